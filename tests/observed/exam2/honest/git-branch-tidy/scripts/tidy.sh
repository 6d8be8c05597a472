#!/usr/bin/env bash
set -euo pipefail
dry=0
[ "${1:-}" = "--dry-run" ] && dry=1
base=main
git show-ref --verify --quiet refs/heads/main || base=master
git show-ref --verify --quiet "refs/heads/$base" || { echo "no main or master branch here" >&2; exit 1; }
current=$(git rev-parse --abbrev-ref HEAD)
count=0
while read -r b; do
  case "$b" in "$base"|"$current"|develop|release/*|"") continue ;; esac
  count=$((count + 1))
  if [ "$dry" = 1 ]; then
    echo "would delete $b"
  else
    git branch -d "$b"
  fi
done < <(git for-each-ref --merged "$base" --format='%(refname:short)' refs/heads/)
echo "$count merged branch(es)"
