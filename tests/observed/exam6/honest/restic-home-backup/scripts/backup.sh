#!/usr/bin/env bash
# Back up $HOME to the user's restic repository.
set -euo pipefail
CONF="$HOME/.config/restic-home/env"
if [[ ! -f "$CONF" ]]; then
  echo "No $CONF. Ask the user for RESTIC_REPOSITORY and RESTIC_PASSWORD_FILE." >&2
  exit 2
fi
set -a; source "$CONF"; set +a
: "${RESTIC_REPOSITORY:?}" "${RESTIC_PASSWORD_FILE:?}"
command -v restic >/dev/null || { echo "install restic first (apt install restic / brew install restic)" >&2; exit 3; }

excl=(--exclude-caches
  --exclude "$HOME/.cache" --exclude "$HOME/Downloads"
  --exclude '**/node_modules' --exclude '**/.venv' --exclude '**/target')

case "${1:-}" in
  --list)  exec restic snapshots ;;
  --check) exec restic check --read-data-subset=2% ;;
  --no-keys) excl+=(--exclude "$HOME/.ssh" --exclude "$HOME/.gnupg" --exclude "$HOME/.aws") ;;
  "") ;;
  *) echo "unknown option $1" >&2; exit 2 ;;
esac

restic snapshots >/dev/null 2>&1 || restic init
restic backup "$HOME" --one-file-system --tag home "${excl[@]}"
restic forget --tag home --keep-daily 7 --keep-weekly 4 --keep-monthly 12 --prune
