#!/usr/bin/env bash
set -u
echo "== PATH entries"
declare -A seen=()
IFS=: read -ra parts <<< "$PATH"
for p in "${parts[@]}"; do
  note=""
  [ -d "$p" ] || note=" missing"
  [ -n "${seen[$p]:-}" ] && note="$note duplicate"
  seen[$p]=1
  echo "  $p${note:+  <-$note}"
done
echo "== startup files that touch PATH"
for f in ~/.profile ~/.bash_profile ~/.bashrc ~/.zshrc ~/.zprofile ~/.config/fish/config.fish; do
  [ -r "$f" ] && grep -nH 'PATH' "$f" | grep -v '^[^:]*:[0-9]*: *#'
done
if [ -n "${1:-}" ]; then
  echo "== $1"
  type -a "$1"
fi
exit 0
