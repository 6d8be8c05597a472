#!/usr/bin/env bash
set -euo pipefail
CMD="${1:?prepare|test|list|retire}"
HOSTS="${2:?hosts file}"
NEW="$HOME/.ssh/id_ed25519_new"
OLD="${OLD_KEY:-$HOME/.ssh/id_ed25519}"

each() { while read -r h <&3; do [ -z "$h" ] || "$1" "$h"; done 3< "$HOSTS"; }

prepare() {
  local pub; pub="$(cat "$NEW.pub")"
  ssh -i "$OLD" "$1" "umask 077; mkdir -p ~/.ssh; touch ~/.ssh/authorized_keys; cp ~/.ssh/authorized_keys ~/.ssh/authorized_keys.bak; grep -qxF '$pub' ~/.ssh/authorized_keys || echo '$pub' >> ~/.ssh/authorized_keys"
  echo "prepared $1"
}
check() { ssh -o IdentitiesOnly=yes -o BatchMode=no -i "$NEW" "$1" true && echo "ok   $1"; }
list() { echo "== $1"; ssh -i "$NEW" "$1" "ssh-keygen -lf ~/.ssh/authorized_keys"; }
retire() {
  local body; body="$(cut -d' ' -f2 "$OLD.pub")"
  ssh -i "$NEW" -o IdentitiesOnly=yes "$1" "cp ~/.ssh/authorized_keys ~/.ssh/authorized_keys.bak; grep -vF '$body' ~/.ssh/authorized_keys.bak > ~/.ssh/authorized_keys"
  echo "retired $1"
}

case "$CMD" in
  prepare)
    [ -f "$NEW" ] || ssh-keygen -t ed25519 -C "$(whoami)@$(hostname)-$(date +%Y%m)" -f "$NEW"
    each prepare ;;
  test) each check ;;
  list) each list ;;
  retire)
    read -r -p "Remove the old key from all hosts in $HOSTS? [y/N] " yn
    [ "$yn" = y ] || exit 1
    each retire ;;
esac
