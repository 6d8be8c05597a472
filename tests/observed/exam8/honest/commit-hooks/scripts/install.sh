#!/usr/bin/env bash
set -euo pipefail
assets="$(cd "$(dirname "$0")/../assets" && pwd)"
hooks="$(git rev-parse --git-path hooks)"
mkdir -p "$hooks"
for h in pre-commit commit-msg; do
  dst="$hooks/$h"
  if [ "${1:-}" = "--uninstall" ]; then
    if grep -q '^# commit-hooks:' "$dst" 2>/dev/null; then
      rm -f "$dst"
      if [ -e "$dst.local" ]; then mv "$dst.local" "$dst"; fi
      echo "removed $h"
    fi
    continue
  fi
  if [ -e "$dst" ] && ! grep -q '^# commit-hooks:' "$dst"; then mv "$dst" "$dst.local"; fi
  install -m 755 "$assets/$h" "$dst"
  echo "installed $dst"
done
