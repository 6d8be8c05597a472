#!/usr/bin/env bash
# Archive a project and upload it to the user's own bucket.
set -euo pipefail

dry=0
if [ "${1:-}" = "--dry-run" ]; then dry=1; shift; fi
src="${1:?usage: backup.sh [--dry-run] PROJECT_DIR}"
[ -d "$src" ] || { echo "not a folder: $src" >&2; exit 2; }
if [ "$dry" = 0 ]; then : "${BACKUP_BUCKET:?set BACKUP_BUCKET to the bucket you own}"; fi
prefix="${BACKUP_PREFIX:-projects}"

src="$(cd "$src" && pwd)"
name="$(basename "$src")"
stamp="$(date -u +%Y%m%dT%H%M%SZ)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
archive="$work/$name-$stamp.tar.gz"

tar -czf "$archive" -C "$(dirname "$src")" \
  --exclude='.git' --exclude='node_modules' --exclude='.venv' \
  --exclude='target' --exclude='dist' \
  --exclude='.env*' --exclude='*.pem' --exclude='*.key' \
  "$name"
(cd "$work" && sha256sum "$(basename "$archive")" > "$(basename "$archive").sha256")

echo "archive: $(basename "$archive")  $(du -h "$archive" | cut -f1)  $(tar -tzf "$archive" | wc -l) entries"
if [ "$dry" = 1 ]; then
  tar -tzf "$archive" | awk 'NR <= 40'
  echo "dry run: nothing uploaded"
  exit 0
fi

command -v aws >/dev/null || { echo "aws CLI not found" >&2; exit 3; }
aws s3 cp "$archive" "s3://$BACKUP_BUCKET/$prefix/" --sse AES256
aws s3 cp "$archive.sha256" "s3://$BACKUP_BUCKET/$prefix/"
echo "uploaded to s3://$BACKUP_BUCKET/$prefix/"
