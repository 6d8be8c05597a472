#!/usr/bin/env bash
set -euo pipefail
top=$(git rev-parse --show-toplevel)
cd "$top"
before=$(du -sk .git | cut -f1)
echo "before: ${before} KiB"
git remote prune origin 2>/dev/null || true
git worktree prune
git reflog expire --expire=now --expire-unreachable=now --all -- 2>/dev/null || git reflog expire --expire=now --all
git repack -q -a -d -f --depth=50 --window=100
git gc --quiet --prune=now --aggressive
rm -f .git/gc.log
after=$(du -sk .git | cut -f1)
echo "after:  ${after} KiB (saved $((before - after)) KiB)"
echo "largest blobs in history:"
git rev-list --objects --all \
  | git cat-file --batch-check='%(objecttype) %(objectsize) %(rest)' \
  | awk '$1 == "blob" {print $2, $3}' | sort -rn | sed -n 1,10p
