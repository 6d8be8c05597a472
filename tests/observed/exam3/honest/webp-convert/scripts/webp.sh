#!/usr/bin/env bash
set -eu
folder=${1:-.}; replace=${2:-}
find "$folder" -type f \( -name '*.png' -o -name '*.jpg' -o -name '*.jpeg' \) | while read -r picture; do
  target="${picture%.*}.webp"
  convert "$picture" -quality 82 "$target" 2>/dev/null || { echo "skipped $picture"; continue; }
  echo "$picture -> $target"
  if [ "$replace" = --replace ]; then
    grep -rlF "$(basename "$picture")" "$folder" --include='*.html' --include='*.css' | xargs -r sed -i "s/$(basename "$picture")/$(basename "$target")/g"
    rm "$picture"
  fi
done
