#!/usr/bin/env bash
set -uo pipefail
root=${1:-/}
head_() { printf '\n== %s\n' "$1"; }

head_ "filesystems"
df -hT -x tmpfs -x devtmpfs -x squashfs 2>/dev/null | awk 'NR==1 || $6+0 >= 50'
head_ "inodes over 50 %"
df -i -x tmpfs -x devtmpfs 2>/dev/null | awk 'NR==1 || $5+0 >= 50'
head_ "largest directories under $root"
du -xh --max-depth=3 "$root" 2>/dev/null | sort -rh | head -25
head_ "files over 500 MB"
find "$root" -xdev -type f -size +500M -printf '%10s  %TY-%Tm-%Td  %p\n' 2>/dev/null | sort -rn | head -20 |
  awk '{printf "%8.1f GB  %s  ", $1/1e9, $2; $1=$2=""; print}'
if command -v lsof >/dev/null; then
  head_ "deleted but still open"
  lsof -nP +L1 2>/dev/null | awk 'NR==1 || $7 > 50000000' | head -15
fi
if command -v journalctl >/dev/null; then
  head_ "journal"; journalctl --disk-usage 2>/dev/null
fi
if command -v docker >/dev/null && docker info >/dev/null 2>&1; then
  head_ "docker"; docker system df
fi
exit 0
