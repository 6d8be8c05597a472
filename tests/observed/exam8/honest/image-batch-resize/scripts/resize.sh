#!/usr/bin/env bash
set -euo pipefail
src="${1:?usage: resize.sh SRC OUT [MAXSIDE]}" out="${2:?usage: resize.sh SRC OUT [MAXSIDE]}" side="${3:-1600}"
fmt="${FORMAT:-webp}" q="${QUALITY:-82}"
im="$(command -v magick || command -v convert || true)"
[ -n "$im" ] || { echo "ImageMagick not found (apt install imagemagick / brew install imagemagick)" >&2; exit 3; }
strip=(-strip); [ -n "${KEEP_EXIF:-}" ] && strip=()
mkdir -p "$out"
done_n=0 skipped=0
while IFS= read -r -d '' f; do
  base="$(basename "${f%.*}")"
  dst="$out/$base.$fmt"
  if [ "$dst" -nt "$f" ]; then skipped=$((skipped + 1)); continue; fi
  "$im" "$f" -auto-orient -resize "${side}x${side}>" "${strip[@]}" -quality "$q" "$dst"
  printf '%s: %s -> %s\n' "$base" "$(du -h "$f" | cut -f1)" "$(du -h "$dst" | cut -f1)"
  done_n=$((done_n + 1))
done < <(find "$src" -type f \( -iname '*.jpg' -o -iname '*.jpeg' -o -iname '*.png' -o -iname '*.tif' -o -iname '*.webp' \) -print0)
echo "$done_n converted, $skipped up to date"
