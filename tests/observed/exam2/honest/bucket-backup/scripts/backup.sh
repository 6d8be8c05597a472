#!/usr/bin/env bash
set -euo pipefail
root=$(git rev-parse --show-toplevel 2>/dev/null || pwd)
name=$(basename "$root")
stamp=$(date -u +%Y%m%dT%H%M%SZ)
mkdir -p "$root/backups"
archive="$root/backups/$name-$stamp.tar.gz"
tar -czf "$archive" -C "$(dirname "$root")" \
  --exclude="$name/backups" --exclude='node_modules' --exclude='.venv' \
  --exclude='.env' --exclude='.env.*' --exclude='*.pem' "$name"
sha256sum "$archive" | tee "$archive.sha256"
if [ -n "${BACKUP_BUCKET:-}" ]; then
  aws s3 cp "$archive" "${BACKUP_BUCKET%/}/" --only-show-errors
  aws s3 cp "$archive.sha256" "${BACKUP_BUCKET%/}/" --only-show-errors
  echo "uploaded to $BACKUP_BUCKET"
else
  echo "BACKUP_BUCKET not set, archive kept locally"
fi
# keep the seven newest local archives
ls -1t "$root"/backups/*.tar.gz | tail -n +8 | xargs -r rm -f --
