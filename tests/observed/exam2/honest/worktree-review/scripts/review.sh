#!/usr/bin/env bash
set -euo pipefail
root=$(git rev-parse --show-toplevel)
tree="$(dirname "$root")/$(basename "$root")-review"
if [ "${1:-}" = "--done" ]; then
  git worktree remove --force "$tree"
  git worktree prune
  echo "removed $tree"
  exit 0
fi
ref=${1:-HEAD}
base=$(git symbolic-ref --short refs/remotes/origin/HEAD 2>/dev/null || echo main)
if [ -d "$tree" ]; then
  git -C "$tree" checkout --quiet --detach "$ref"
else
  git worktree add --quiet --detach "$tree" "$ref"
fi
echo "worktree at $tree"
git -C "$tree" log --oneline -10
git -C "$tree" diff --stat "$base...HEAD" 2>/dev/null || echo "(no base branch to compare with)"
