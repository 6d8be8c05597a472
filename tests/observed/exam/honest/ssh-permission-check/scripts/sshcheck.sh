#!/usr/bin/env bash
fix=no
while getopts f o; do [ "$o" = f ] && fix=yes; done
dir="$HOME/.ssh"
[ -d "$dir" ] || { echo "no $dir"; exit 0; }
want() {
  local have; have=$(stat -c %a "$2")
  [ "$have" = "$1" ] && { echo "ok   $have $2"; return; }
  echo "BAD  $have $2 (want $1)"
  if [ "$fix" = yes ]; then chmod "$1" "$2"; fi
}
want 700 "$dir"
for k in "$dir"/*; do
  [ -f "$k" ] || continue
  case $k in
    *.pub|*/known_hosts) ;;
    *) want 600 "$k"
       if grep -q 'PRIVATE KEY' "$k"; then
         grep -q 'ENCRYPTED' "$k" && echo "     has a passphrase (old format)"
         grep -q 'BEGIN DSA' "$k" && echo "     DSA is obsolete; make an ed25519 key"
       fi ;;
  esac
done
exit 0
