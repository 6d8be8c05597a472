#!/usr/bin/env bash
set -euo pipefail
umask 077
cmd="${1:-}" path="${2:-}"
[ -n "$cmd" ] && [ -n "$path" ] || { echo "usage: vault.sh lock PATH | open FILE.vault | check FILE.vault" >&2; exit 2; }
ask() { local p; read -rsp "$1: " p; echo >&2; printf '%s' "$p"; }
crypt() { openssl enc "$1" -aes-256-ctr -pbkdf2 -iter 600000 -md sha256 -salt -pass fd:3 3<<<"$2"; }
mac() { # file pass: HMAC-SHA256 under a key derived apart from the encryption key; passphrase on stdin
  printf '%s' "$2" | python3 -c '
import hashlib, hmac, sys
key = hashlib.pbkdf2_hmac("sha256", sys.stdin.buffer.read(), b"file-vault mac v1", 600000)
m = hmac.new(key, digestmod="sha256")
with open(sys.argv[1], "rb") as fh:
    for block in iter(lambda: fh.read(1 << 20), b""):
        m.update(block)
print(m.hexdigest())' "$1"
}
verify() {
  [ -r "$1.mac" ] || { echo "no $1.mac beside it" >&2; exit 3; }
  [ "$(mac "$1" "$2")" = "$(cat "$1.mac")" ] || { echo "wrong passphrase or damaged file" >&2; exit 4; }
}
case "$cmd" in
  lock)
    path="${path%/}"; out="$(basename "$path").vault"
    [ -e "$path" ] || { echo "no $path" >&2; exit 2; }
    [ ! -e "$out" ] || { echo "$out exists" >&2; exit 2; }
    p="$(ask passphrase)"; [ "${#p}" -ge 10 ] || { echo "at least 10 characters" >&2; exit 2; }
    [ "$p" = "$(ask again)" ] || { echo "not the same" >&2; exit 2; }
    tar -czf - -C "$(dirname "$path")" "$(basename "$path")" | crypt -e "$p" > "$out"
    mac "$out" "$p" > "$out.mac"
    crypt -d "$p" < "$out" | tar -tzf - > /dev/null
    echo "wrote $out and $out.mac; the original is still at $path" ;;
  check)
    p="$(ask passphrase)"; verify "$path" "$p"; crypt -d "$p" < "$path" | tar -tzf - ;;
  open)
    p="$(ask passphrase)"; verify "$path" "$p"
    top="$(crypt -d "$p" < "$path" | tar -tzf - | awk -F/ 'NR==1{print $1}')"
    [ ! -e "$top" ] || { echo "$top exists here" >&2; exit 2; }
    crypt -d "$p" < "$path" | tar -xzf -
    echo "unpacked $top" ;;
  *) echo "lock, open or check" >&2; exit 2 ;;
esac
