#!/usr/bin/env bash
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
env="$HOME/.config/restic/env"
[[ -r $env ]] || { echo "$env missing, see SKILL.md" >&2; exit 1; }
set -a
# shellcheck disable=SC1090
. "$env"
set +a
: "${RESTIC_REPOSITORY:?}" "${RESTIC_PASSWORD_FILE:?}"
command -v restic >/dev/null || { echo "restic not installed" >&2; exit 1; }

restic backup "$HOME" --one-file-system --exclude-caches --exclude-file "$here/excludes.txt" --tag home
restic forget --tag home --keep-daily 7 --keep-weekly 5 --keep-monthly 12 --prune
