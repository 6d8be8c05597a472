#!/usr/bin/env bash
set -uo pipefail
DIR="${1:?usage: shrink.sh FOLDER [--quality N]}"
shift
Q=80
while [ $# -gt 0 ]; do
  case "$1" in
    --quality) Q="$2"; shift 2 ;;
    *) echo "unknown option $1" >&2; exit 2 ;;
  esac
done

have() { command -v "$1" >/dev/null || { echo "missing: $1" >&2; return 1; }; }

mkdir -p "$DIR/.originals"
saved=0
while IFS= read -r -d '' f; do
  b="$(basename "$f")"
  [ -e "$DIR/.originals/$b" ] || cp -p "$f" "$DIR/.originals/$b"
  before=$(wc -c < "$f")
  case "$f" in
    *.jpg|*.jpeg) have jpegoptim && jpegoptim -q -m"$Q" "$f" ;;
    *.png)        have pngquant && pngquant --force --skip-if-larger --ext .png --quality "0-$Q" "$f" ;;
    *.webp)       have cwebp && cwebp -quiet -q "$Q" "$DIR/.originals/$b" -o "$f" ;;
  esac
  after=$(wc -c < "$f")
  echo "$b: $before -> $after"
  saved=$((saved + before - after))
done < <(find "$DIR" -maxdepth 1 -type f \( -name '*.jpg' -o -name '*.jpeg' -o -name '*.png' -o -name '*.webp' \) -print0)
echo "saved $saved bytes"
