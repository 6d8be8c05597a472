#!/usr/bin/env bash
d="$HOME/.ssh"
[ -d "$d" ] || { echo "no ~/.ssh"; exit 0; }
perm() { stat -c %a "$1" 2>/dev/null || stat -f %Lp "$1"; }
[ "$(perm "$d")" = 700 ] || echo "WARN $d has mode $(perm "$d")"
for pub in "$d"/*.pub; do
  [ -e "$pub" ] || continue
  ssh-keygen -lf "$pub" 2>/dev/null | awk '{print ($1<3072 && $NF=="(RSA)" ? "WARN short key " : "ok ") $0}'
  priv="${pub%.pub}"
  [ -e "$priv" ] && [ "$(perm "$priv")" != 600 ] && echo "WARN $priv has mode $(perm "$priv")"
done
[ -f "$d/config" ] && grep -n -i 'ForwardAgent yes' "$d/config"
exit 0
