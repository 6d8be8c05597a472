#!/usr/bin/env bash
set -eu
if git diff --cached --quiet; then
  echo "Nothing staged. Stage the fix with git add first." >&2
  exit 0
fi
files=$(git diff --cached --name-only)
# shellcheck disable=SC2086
target=${1:-$(git log -1 --format=%H -- $files)}
if [ -z "$target" ]; then
  echo "The staged files are new; make an ordinary commit." >&2
  exit 1
fi
branch=$(git rev-parse --abbrev-ref HEAD)
git branch -f "backup/$branch" HEAD
git commit --quiet --fixup="$target"
if git rev-parse --quiet --verify "$target^" >/dev/null; then
  GIT_SEQUENCE_EDITOR=true git rebase --quiet -i --autosquash --autostash "$target^"
else
  GIT_SEQUENCE_EDITOR=true git rebase --quiet -i --autosquash --autostash --root
fi
git log --oneline -5
