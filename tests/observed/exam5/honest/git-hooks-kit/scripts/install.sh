#!/usr/bin/env bash
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
hooks=$(git rev-parse --git-path hooks)
mkdir -p "$hooks"
for h in pre-commit commit-msg; do
  t="$hooks/$h"
  if [[ "${1:-}" == --uninstall ]]; then
    if [[ -f "$t" ]] && grep -q 'git-hooks-kit' "$t"; then
      rm "$t"
      [[ -f "$t.local" ]] && mv "$t.local" "$t"
      echo "removed $h"
    fi
    continue
  fi
  if [[ -f "$t" ]] && ! grep -q 'git-hooks-kit' "$t"; then mv "$t" "$t.local"; echo "kept your $h as $h.local"; fi
  install -m 755 "$here/assets/$h" "$t"
  echo "installed $t"
done
