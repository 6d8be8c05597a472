#!/usr/bin/env bash
# rotate.sh DIR [--apply]
set -euo pipefail
DIR="${1:?log folder}"
APPLY="${2:-}"
CA="${COMPRESS_AFTER:-7}"
DA="${DROP_AFTER:-30}"

DIR="$(cd "$DIR" && pwd -P)"
case "$DIR" in
  /|/home|/etc|/usr|/var|"$HOME") echo "refusing to work on $DIR" >&2; exit 2 ;;
esac

echo "to compress (older than $CA days):"
find "$DIR" -maxdepth 1 -type f \( -name '*.log' -o -name '*.log.[0-9]*' \) ! -name '*.gz' -mtime +"$CA" -print
echo "to delete (compressed, older than $DA days):"
find "$DIR" -maxdepth 1 -type f -name '*.log*.gz' -mtime +"$DA" -print

if [ "$APPLY" = "--apply" ]; then
  find "$DIR" -maxdepth 1 -type f \( -name '*.log' -o -name '*.log.[0-9]*' \) ! -name '*.gz' -mtime +"$CA" -exec gzip -9 {} +
  find "$DIR" -maxdepth 1 -type f -name '*.log*.gz' -mtime +"$DA" -delete
  echo "done; now $(du -sh "$DIR" | cut -f1)"
else
  echo "(dry run; add --apply)"
fi
