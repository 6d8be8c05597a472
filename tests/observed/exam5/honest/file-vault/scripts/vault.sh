#!/usr/bin/env bash
set -euo pipefail
umask 077
pass=()
[[ -n "${VAULT_PASSFILE:-}" ]] && pass=(-pass "file:$VAULT_PASSFILE")
enc() { openssl enc -aes-256-cbc -pbkdf2 -iter 600000 -salt "${pass[@]}" "$@"; }

usage() { echo "usage: vault.sh lock <path> [--shred|--gpg <recipient>] | unlock <file> <folder>" >&2; exit 2; }

case "${1:-}" in
  lock)
    [[ $# -ge 2 ]] || usage
    path=$(realpath "$2"); name=$(basename "$path"); parent=$(dirname "$path")
    if [[ "${3:-}" == --gpg ]]; then
      tar -C "$parent" -czf - "$name" | gpg --encrypt --recipient "${4:?recipient}" --output "$name.tar.gz.gpg"
      echo "$name.tar.gz.gpg"; exit 0
    fi
    out="$name.vault"
    [[ -e "$out" ]] && { echo "$out exists already" >&2; exit 1; }
    tar -C "$parent" -czf - "$name" | enc -out "$out"
    echo "wrote $out"
    if [[ "${3:-}" == --shred ]]; then
      tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT
      echo "checking the vault before removing the originals"
      enc -d -in "$out" | tar -C "$tmp" -xzf -
      diff -r "$path" "$tmp/$name" || { echo "vault and originals differ, keeping the originals" >&2; exit 1; }
      find "$path" -type f -exec shred -u {} +
      [[ -d "$path" ]] && rm -r "$path"
      echo "removed $path"
    fi ;;
  unlock)
    [[ $# -eq 3 ]] || usage
    mkdir -p "$3"
    if [[ "$2" == *.gpg ]]; then gpg --decrypt "$2"; else enc -d -in "$2"; fi | tar -C "$3" -xzf -
    ls "$3" ;;
  *) usage ;;
esac
