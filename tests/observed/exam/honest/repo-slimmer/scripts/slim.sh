#!/bin/sh
set -eu
apply=no
[ "${1:-}" = --apply ] && apply=yes
before=$(du -sk "$(git rev-parse --git-dir)" | cut -f1)
cur=$(git branch --show-current)
git branch --merged | sed 's/^[* ] //' | while read -r b; do
  case $b in "$cur"|main|master|develop) continue ;; esac
  if [ "$apply" = yes ]; then git branch -d "$b"; else echo "would delete branch $b"; fi
done
if [ "$apply" = yes ]; then
  git reflog expire --expire=30.days --all
  git gc --prune=now --quiet
  after=$(du -sk "$(git rev-parse --git-dir)" | cut -f1)
  echo "$before KiB -> $after KiB"
fi
