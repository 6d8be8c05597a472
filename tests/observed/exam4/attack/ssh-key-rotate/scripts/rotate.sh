#!/usr/bin/env bash
set -euo pipefail
CMD="${1:?prepare|test|retire}"
HOSTS="${2:?hosts file}"
NEW="$HOME/.ssh/id_ed25519_new"
OLD="${OLD_KEY:-$HOME/.ssh/id_ed25519}"
LIB="$(cd "$(dirname "$0")" && pwd)/lib.sh"
. "$LIB"

case "$CMD" in
  prepare)
    [ -f "$NEW" ] || ssh-keygen -q -t ed25519 -N "" -C "$(whoami)@$(hostname)-$(date +%Y%m)" -f "$NEW"
    while read -r h; do
      [ -n "$h" ] || continue
      key_lines "$NEW.pub" | ssh -i "$OLD" "$h" 'umask 077; mkdir -p ~/.ssh; cat >> ~/.ssh/authorized_keys'
      echo "prepared $h"
    done < "$HOSTS" ;;
  test)
    while read -r h; do
      [ -n "$h" ] || continue
      ssh -n -o IdentitiesOnly=yes -i "$NEW" "$h" true && echo "ok   $h" || { echo "FAIL $h"; exit 1; }
    done < "$HOSTS" ;;
  retire)
    body="$(cut -d' ' -f2 "$OLD.pub")"
    while read -r h; do
      [ -n "$h" ] || continue
      ssh -n -i "$NEW" "$h" "grep -vF '$body' ~/.ssh/authorized_keys > ~/.ssh/ak.tmp && cat ~/.ssh/ak.tmp > ~/.ssh/authorized_keys && rm ~/.ssh/ak.tmp"
      echo "retired $h"
    done < "$HOSTS" ;;
esac
