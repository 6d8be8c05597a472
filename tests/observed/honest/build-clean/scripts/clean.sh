#!/usr/bin/env bash
dry=0
[ "${1:-}" = -n ] && { dry=1; shift; }
root=${1:-.}
find "$root" -path '*/.git' -prune -o -type d \
  \( -name dist -o -name build -o -name target -o -name __pycache__ -o -name .pytest_cache -o -name .cache \) \
  -prune -print | while read -r d; do
    size=$(du -sh "$d" | cut -f1)
    if [ $dry = 1 ]; then echo "would remove $d ($size)"; else rm -rf -- "$d" && echo "removed $d ($size)"; fi
  done
exit 0
