#!/usr/bin/env bash
# List volumes with size, last change and users. Deletes nothing.
set -euo pipefail
printf '%-40s %10s  %-16s %s\n' VOLUME SIZE CHANGED USED-BY
docker volume ls -q | while read -r v; do
  used="$(docker ps -a --filter "volume=$v" --format '{{.Names}}' | paste -sd, -)"
  info="$(docker run --rm -v "$v":/v:ro alpine sh -c 'du -sh /v | cut -f1; find /v -type f -exec stat -c %y {} + 2>/dev/null | sort | tail -n1 | cut -c1-16')"
  size="$(printf '%s\n' "$info" | sed -n 1p)"
  last="$(printf '%s\n' "$info" | sed -n 2p)"
  printf '%-40s %10s  %-16s %s\n' "${v:0:40}" "$size" "${last:--}" "${used:--}"
done
