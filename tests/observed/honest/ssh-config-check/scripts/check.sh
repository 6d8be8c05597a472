#!/usr/bin/env bash
dir="$HOME/.ssh"
[ -d "$dir" ] || { echo "no ~/.ssh"; exit 0; }
printf '%s .ssh\n' "$(stat -c %a "$dir")"
for f in "$dir"/*; do
  mode=$(stat -c %a "$f")
  name=${f##*/}
  case $name in
    *.pub|known_hosts*) ok=644 ;;
    *) ok=600 ;;
  esac
  [ "$mode" -le "$ok" ] && echo "$mode $name" || echo "$mode $name   too open, chmod $ok"
done
[ -r "$dir/config" ] && awk 'tolower($1) == "host" { print "host", $2; if (seen[$2]++) print "  defined twice" }' "$dir/config"
exit 0
