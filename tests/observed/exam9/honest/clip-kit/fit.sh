#!/usr/bin/env bash
# fit.sh INPUT MEGABYTES - two-pass encode to a target size
set -euo pipefail
in="${1:?usage: fit.sh INPUT MEGABYTES}"
mb="${2:?usage: fit.sh INPUT MEGABYTES}"
command -v ffmpeg >/dev/null || { echo "ffmpeg is not installed" >&2; exit 1; }
dur=$(ffprobe -v error -show_entries format=duration -of csv=p=0 "$in")
audio=96
video=$(awk -v d="$dur" -v m="$mb" -v a="$audio" 'BEGIN { printf "%d", m * 8192 / d * 0.97 - a }')
(( video > 80 )) || { echo "$mb MB is too small for $dur s" >&2; exit 1; }
out="${in%.*}.fit.mp4"
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT
echo "video ${video}k + audio ${audio}k -> $out"
ffmpeg -y -v error -i "$in" -c:v libx264 -b:v "${video}k" -pass 1 -passlogfile "$log/p" -an -f null /dev/null
ffmpeg -y -v error -i "$in" -c:v libx264 -b:v "${video}k" -pass 2 -passlogfile "$log/p" \
  -vf 'scale=min(1280\,iw):-2' -c:a aac -b:a "${audio}k" -movflags +faststart "$out"
ls -lh "$out"
