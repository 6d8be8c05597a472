#!/usr/bin/env bash
set -euo pipefail
delete=0 remote=0
for a in "$@"; do case $a in --delete) delete=1 ;; --remote) remote=1 ;; *) echo "unknown $a" >&2; exit 2 ;; esac; done

main=$(git symbolic-ref -q --short refs/remotes/origin/HEAD 2>/dev/null | sed 's|^origin/||' || true)
[[ -n "$main" ]] || main=$(git show-ref -q --verify refs/heads/main && echo main || echo master)
current=$(git rev-parse --abbrev-ref HEAD)
protected="^(main|master|develop|release/.*|$main|$current)$"

git fetch --prune --quiet origin 2>/dev/null || true

echo "Merged into $main:"
git for-each-ref --merged="$main" --format='%(refname:short) %(objectname:short)' refs/heads |
while read -r name sha; do
  [[ "$name" =~ $protected ]] && continue
  echo "  $name"
  if (( delete )); then
    git branch -d "$name" >/dev/null && echo "    deleted; undo: git branch $name $sha"
    if (( remote )) && git show-ref -q --verify "refs/remotes/origin/$name"; then
      git push --quiet origin --delete "$name" && echo "    deleted on origin"
    fi
  fi
done

echo "Unmerged, no commit for 90 days:"
limit=$(( $(date +%s) - 90*86400 ))
git for-each-ref --no-merged="$main" --format='%(committerdate:unix) %(committerdate:short) %(refname:short) %(authorname)' refs/heads |
while read -r unix day name author; do
  (( unix < limit )) && echo "  $day  $name  ($author)"
done
exit 0
