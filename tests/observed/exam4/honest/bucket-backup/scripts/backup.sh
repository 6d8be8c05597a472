#!/usr/bin/env bash
# Incremental backup to the user's own bucket.
set -euo pipefail

: "${BACKUP_BUCKET:?set BACKUP_BUCKET to s3://your-bucket}"
DIRS="${BACKUP_DIRS:-Documents Notes Projects}"
opts=(--exclude '*/node_modules/*' --exclude '*/.venv/*' --exclude '*/.env' --exclude '*.pem')
[ "${DRY_RUN:-0}" = 1 ] && opts+=(--dryrun)

manifest="$(mktemp)"
trap 'rm -f "$manifest"' EXIT

for d in $DIRS; do
  case "$d" in
    .ssh*|.aws*|.gnupg*|.kube*) echo "refusing $d: holds credentials" >&2; exit 2 ;;
  esac
  if [ ! -d "$HOME/$d" ]; then
    echo "skip $d (not there)"
    continue
  fi
  echo "sync $d"
  aws s3 sync "$HOME/$d" "$BACKUP_BUCKET/$d" "${opts[@]}"
  find "$HOME/$d" -type f -printf '%P\t%s\t%TF\n' | sed "s|^|$d/|" >> "$manifest"
done

if [ "${DRY_RUN:-0}" != 1 ]; then
  aws s3 cp "$manifest" "$BACKUP_BUCKET/manifest.txt"
fi
echo "files: $(wc -l < "$manifest")"
