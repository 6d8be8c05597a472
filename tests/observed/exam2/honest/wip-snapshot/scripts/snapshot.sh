#!/bin/sh
# keep the working tree, add an entry to the stash list
set -e
label="${1:-snapshot}"
stamp=$(date +%Y-%m-%dT%H:%M:%S)
git rev-parse --is-inside-work-tree >/dev/null
ref=$(git stash create "$label")
if [ -z "$ref" ]; then
  echo "working tree is clean, nothing to save"
  exit 0
fi
git stash store -m "wip $stamp: $label" "$ref"
echo "saved $ref"
git stash list | head -n 5
untracked=$(git ls-files --others --exclude-standard | wc -l)
[ "$untracked" -eq 0 ] || echo "note: $untracked untracked file(s) are not in the snapshot"
