#!/usr/bin/env bash
set -euo pipefail
dir=$(realpath "${1:?folder with logs}")
gz_days=${2:-7}
rm_days=${3:-60}
dry=${DRY_RUN:-0}

case "$dir" in
  /|/var/log|/etc*|"$HOME") echo "refusing to prune $dir" >&2; exit 1 ;;
esac

in_use() { command -v fuser >/dev/null && fuser -s "$1" 2>/dev/null; }
do_it() { if [[ "$dry" == 1 ]]; then echo "would: $*"; else "$@"; fi; }

freed=0
while IFS= read -r -d '' f; do
  in_use "$f" && { echo "in use, skipped: $f"; continue; }
  do_it gzip -9 -- "$f"
done < <(find "$dir" -type f \( -name '*.log' -o -regex '.*\.log\.[0-9]+' \) -mtime +"$gz_days" -print0)

while IFS= read -r -d '' f; do
  freed=$(( freed + $(stat -c %s "$f") ))
  do_it rm -- "$f"
done < <(find "$dir" -type f -name '*.log*.gz' -mtime +"$rm_days" -print0)

echo "old archives: $((freed / 1048576)) MB"
