#!/usr/bin/env bash
main=$(git symbolic-ref --short refs/remotes/origin/HEAD 2>/dev/null | cut -d/ -f2)
main=${main:-main}
git rev-parse -q --verify "$main" >/dev/null || main=$(git branch --show-current)
git branch --merged "$main" --format='%(refname:short)' | grep -vxE "$main|master|develop|$(git branch --show-current)" |
while read -r b; do
  if [ "${1:-}" = -y ]; then git branch -d "$b"; else echo "merged: $b"; fi
done
exit 0
