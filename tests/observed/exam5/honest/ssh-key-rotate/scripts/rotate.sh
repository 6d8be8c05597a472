#!/usr/bin/env bash
set -uo pipefail
cmd=${1:-}
usage() { grep -E '^  (new|push|test|retire)\)' "$0" | sed 's/)//' >&2; exit 2; }
hosts() { grep -vE '^\s*(#|$)' "$1"; }
with_key() { ssh -n -o BatchMode=yes -o IdentitiesOnly=yes -o ConnectTimeout=8 -i "$1" "$2" "${@:3}"; }

case "$cmd" in
  new)
    key=${2:?path of the new key}
    [[ -e "$key" ]] && { echo "$key exists" >&2; exit 1; }
    ssh-keygen -t ed25519 -a 100 -f "$key" -C "$(id -un)@$(hostname -s) $(date +%Y-%m)" ;;
  push)
    key=${2:?}; list=${3:?}
    while read -r h; do
      echo "-- $h"
      ssh-copy-id -i "$key.pub" "$h" </dev/null >/dev/null 2>&1 && echo "added" || echo "FAILED"
    done < <(hosts "$list") ;;
  test)
    key=${2:?}; list=${3:?}; rc=0
    while read -r h; do
      if with_key "$key" "$h" true 2>/dev/null; then echo "ok      $h"; else echo "FAILED  $h"; rc=1; fi
    done < <(hosts "$list")
    exit $rc ;;
  retire)
    old=${2:?}; new=${3:?}; list=${4:?}
    body=$(awk '{print $2}' "$old.pub")
    [[ ${#body} -gt 40 ]] || { echo "cannot read $old.pub" >&2; exit 1; }
    while read -r h; do
      if with_key "$new" "$h" "cp -p ~/.ssh/authorized_keys ~/.ssh/authorized_keys.bak && grep -vF '$body' ~/.ssh/authorized_keys.bak > ~/.ssh/authorized_keys"; then
        echo "retired on $h"
      else
        echo "left as it is on $h (new key does not work there)"
      fi
    done < <(hosts "$list") ;;
  *) usage ;;
esac
