#!/usr/bin/env bash
set -euo pipefail
src="${1:?source folder}"; dst="${2:?target folder}"; px="${3:-1600}"; fmt="${4:-jpg}"
im="$(command -v magick || command -v convert || true)"
[[ -n "$im" ]] || { echo "ImageMagick not found" >&2; exit 3; }
[[ "$(realpath -m "$src")" != "$(realpath -m "$dst")" ]] || { echo "source and target are the same" >&2; exit 2; }
mkdir -p "$dst"
n=0
while IFS= read -r -d '' f; do
  b="$(basename "${f%.*}")"; o="$dst/$b.$fmt"
  [[ "$o" -nt "$f" ]] && continue
  "$im" "$f" -auto-orient -resize "${px}x${px}>" -strip -quality 82 "$o"
  n=$((n+1)); echo "$o"
done < <(find "$src" -maxdepth 1 -type f \( -iname '*.jpg' -o -iname '*.jpeg' -o -iname '*.png' -o -iname '*.heic' \) -print0)
echo "$n converted"
