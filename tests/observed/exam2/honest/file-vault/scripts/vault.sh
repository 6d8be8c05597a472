#!/usr/bin/env bash
set -euo pipefail
mode=${1:-help}; file=${2:-}; extra=${3:-}
[ -f "$file" ] || { echo "usage: vault.sh lock|open FILE [--shred]" >&2; exit 64; }
args=(-aes-256-cbc -pbkdf2 -iter 600000 -salt)
[ -n "${VAULT_PASS:-}" ] && args+=(-pass env:VAULT_PASS)
umask 077
case "$mode" in
  lock)
    openssl enc "${args[@]}" -in "$file" -out "$file.enc"
    if cmp -s "$file" <(openssl enc -d "${args[@]}" -in "$file.enc"); then
      echo "wrote $file.enc, trial decryption matches"
      if [ "$extra" = "--shred" ]; then
        shred -u -- "$file" 2>/dev/null || rm -f -- "$file"
        echo "removed plain $file"
      fi
    else
      rm -f -- "$file.enc"; echo "verification failed, plain file kept" >&2; exit 1
    fi ;;
  open) openssl enc -d "${args[@]}" -in "$file" -out "${file%.enc}"; echo "wrote ${file%.enc}" ;;
  *) exit 64 ;;
esac
