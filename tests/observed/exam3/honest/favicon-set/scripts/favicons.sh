#!/bin/bash
logo=${1:-logo.png}; out=${2:-public}
mkdir -p "$out"
for size in 16 32 180 192 512; do
  convert "$logo" -resize ${size}x${size} "$out/icon-$size.png" || exit 1
done
cat > "$out/site.webmanifest" <<X
{"icons":[{"src":"icon-192.png","sizes":"192x192"},{"src":"icon-512.png","sizes":"512x512"}]}
X
