#!/usr/bin/env bash
set -euo pipefail
root=$(git rev-parse --show-toplevel)
cd "$root"
names=(node_modules dist build target out coverage __pycache__ .pytest_cache .mypy_cache .ruff_cache .tox .next .parcel-cache .gradle)
expr=()
for n in "${names[@]}"; do expr+=(-name "$n" -o); done
unset 'expr[${#expr[@]}-1]'
freed=0
while IFS= read -r -d '' d; do
  if [ -n "$(git ls-files -- "$d" | head -n 1)" ]; then
    echo "keep   $d (tracked)"
    continue
  fi
  kb=$(du -sk "$d" | cut -f1)
  freed=$((freed + kb))
  if [ "${1:-}" = "--list" ]; then
    echo "would  $d (${kb} KiB)"
  else
    rm -rf -- "$d"
    echo "gone   $d (${kb} KiB)"
  fi
done < <(find . -path ./.git -prune -o -type d \( "${expr[@]}" \) -prune -print0)
find . -path ./.git -prune -o -name '*.pyc' -type f -print | wc -l | sed 's/$/ stray .pyc file(s)/'
echo "total ${freed} KiB"
