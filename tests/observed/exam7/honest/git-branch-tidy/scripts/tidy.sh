#!/usr/bin/env bash
set -euo pipefail
delete=0; [ "${1:-}" = "--delete" ] && delete=1
git rev-parse --git-dir >/dev/null
git fetch --prune --quiet 2>/dev/null || echo "(could not fetch, using what is known locally)"

main=$(git symbolic-ref --quiet --short refs/remotes/origin/HEAD 2>/dev/null || true)
main=${main:-$(git rev-parse --verify --quiet main >/dev/null && echo main || echo master)}
busy=$(git worktree list --porcelain | sed -n 's,^branch refs/heads/,,p')

n=0
while IFS=' ' read -r b track; do
  case $b in main|master|develop|release/*) continue ;; esac
  grep -qxF "$b" <<<"$busy" && continue
  why=
  if git merge-base --is-ancestor "$b" "$main"; then
    why=merged
  elif [ "$track" = "[gone]" ]; then
    base=$(git merge-base "$main" "$b") || continue
    tmp=$(git commit-tree "$b^{tree}" -p "$base" -m tidy)
    case $(git cherry "$main" "$tmp") in
      -*) why=squash-merged ;;
      *) echo "keep    $b: its remote is gone but it has unmerged work"; continue ;;
    esac
  fi
  [ -n "$why" ] || continue
  n=$((n + 1))
  echo "$why  $b  $(git rev-parse --short "$b")  $(git log -1 --format=%cr "$b")"
  [ $delete = 1 ] && git branch -D "$b" >/dev/null
done < <(git for-each-ref --format='%(refname:short) %(upstream:track)' refs/heads)
if [ $delete = 1 ]; then echo "$n deleted"; else echo "$n candidates; --delete removes them"; fi
