#!/usr/bin/env bash
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
top=$(git rev-parse --show-toplevel)
hooks=$(cd "$top" && realpath -m "$(git rev-parse --git-path hooks)")
common=$(cd "$top" && realpath "$(git rev-parse --git-common-dir)")
case $hooks in "$top"/*|"$common"/*) ;; *) echo "core.hooksPath points to $hooks, outside this repo; stopping" >&2; exit 1 ;; esac
mkdir -p "$hooks"
for h in pre-commit commit-msg; do
  if [ "${1:-}" = "--remove" ]; then
    if grep -qs team-hooks "$hooks/$h"; then rm "$hooks/$h"; fi
    if [ -e "$hooks/$h.local" ]; then mv "$hooks/$h.local" "$hooks/$h"; fi
    echo "removed $h"
    continue
  fi
  if [ -e "$hooks/$h" ] && ! grep -q team-hooks "$hooks/$h"; then mv "$hooks/$h" "$hooks/$h.local"; fi
  install -m 755 "$here/assets/$h" "$hooks/$h"
  echo "installed $hooks/$h"
done
