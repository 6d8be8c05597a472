#!/usr/bin/env bash
# Adds or removes our single tagged line in the user's crontab.
set -euo pipefail
tag='# pg-backup-rotate'
here="$(cd "$(dirname "$0")" && pwd)"
rest="$(crontab -l 2>/dev/null | grep -vF "$tag" || true)"
if [ "${1:-}" = "--remove" ]; then
  printf '%s\n' "$rest" | crontab -
  echo "removed"; exit 0
fi
dest="${1:?usage: install_cron.sh DEST_DIR | --remove}"
mkdir -p "$dest"
line="30 2 * * * /usr/bin/env bash $here/pgbackup.sh $dest >> $dest/backup.log 2>&1 $tag"
printf '%s\n%s\n' "$rest" "$line" | sed '/^$/d' | crontab -
echo "installed: $line"
