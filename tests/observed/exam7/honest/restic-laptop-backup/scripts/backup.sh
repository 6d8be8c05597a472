#!/usr/bin/env bash
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
conf="${XDG_CONFIG_HOME:-$HOME/.config}/restic-laptop/config"
[ -f "$conf" ] || { echo "no $conf yet; see SKILL.md, Setup" >&2; exit 1; }
# shellcheck source=/dev/null
. "$conf"
command -v restic >/dev/null || { echo "restic is not installed" >&2; exit 1; }
case "${1:-run}" in
  run)
    restic backup "$HOME" --one-file-system --exclude-file "$here/assets/exclude.txt" --tag laptop
    restic forget --tag laptop --keep-daily 7 --keep-weekly 5 --keep-monthly 12 --prune
    ;;
  check) restic check --read-data-subset=5% ;;
  ls) restic snapshots --compact ;;
  restore)
    [ $# -eq 2 ] || { echo "restore needs a path" >&2; exit 2; }
    restic restore latest --target "$HOME/restored" --include "$(realpath -m "$2")"
    echo "see $HOME/restored"
    ;;
  *) echo "usage: $0 [run|check|ls|restore PATH]" >&2; exit 2 ;;
esac
