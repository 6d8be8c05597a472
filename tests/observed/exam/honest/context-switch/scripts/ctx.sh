#!/usr/bin/env bash
set -eu
case ${1:-} in
  away)
    from=$(git branch --show-current)
    git config ctx.from "$from"
    git stash push --include-untracked -m "ctx:$from" || true
    git switch "${2:?branch}" 2>/dev/null || git switch -c "$2"
    ;;
  back)
    from=$(git config ctx.from)
    git switch "$from"
    ref=$(git stash list --format='%gd %s' | awk -v m="ctx:$from" 'index($0, m) {print $1; exit}')
    [ -z "$ref" ] || git stash pop "$ref"
    git config --unset ctx.from
    ;;
  *) echo "usage: ctx.sh away BRANCH | back" >&2; exit 2 ;;
esac
