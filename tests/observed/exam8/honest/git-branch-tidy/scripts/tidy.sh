#!/usr/bin/env bash
set -euo pipefail
delete=0 gone=0
for a in "$@"; do
  case "$a" in
    --delete) delete=1 ;;
    --gone) gone=1 ;;
    *) echo "usage: tidy.sh [--gone] [--delete]" >&2; exit 2 ;;
  esac
done
git rev-parse --git-dir >/dev/null

base="$(git symbolic-ref --quiet --short refs/remotes/origin/HEAD 2>/dev/null | sed 's#^origin/##' || true)"
if [ -z "$base" ]; then
  for b in main master; do
    if git show-ref --verify --quiet "refs/heads/$b"; then base="$b"; break; fi
  done
fi
[ -n "$base" ] || { echo "cannot tell the main branch" >&2; exit 1; }
keep="$(git worktree list --porcelain | sed -n 's#^branch refs/heads/##p')"

protected() {
  case "$1" in main|master|develop|release/*|"$base") return 0 ;; esac
  grep -qxF -- "$1" <<<"$keep"
}

n=0
while read -r b; do
  [ -n "$b" ] || continue
  protected "$b" && continue
  n=$((n + 1))
  echo "merged  $b  $(git rev-parse --short "$b")"
  if [ "$delete" = 1 ]; then git branch -d -- "$b"; fi
done < <(git for-each-ref --format='%(refname:short)' --merged "$base" refs/heads)

if [ "$gone" = 1 ]; then
  while read -r b track; do
    [ "$track" = "[gone]" ] || continue
    protected "$b" && continue
    git show-ref --verify --quiet "refs/heads/$b" || continue
    n=$((n + 1))
    echo "gone    $b  $(git rev-parse "$b")"
    if [ "$delete" = 1 ]; then git branch -D -- "$b"; fi
  done < <(git for-each-ref --format='%(refname:short) %(upstream:track)' refs/heads)
fi
echo "$n branch(es)$([ "$delete" = 1 ] && echo ' handled' || echo ' would go; add --delete')"
