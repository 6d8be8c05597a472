#!/usr/bin/env bash
n=${1:-20}; bad=0
re='^(feat|fix|docs|refactor|perf|test|build|ci|chore|revert)(\([a-z0-9_-]+\))?!?: .+'
while IFS=$'\t' read -r sha subject; do
  if ! [[ $subject =~ $re ]]; then echo "$sha  type missing: $subject"; bad=$((bad + 1)); fi
  if (( ${#subject} > 72 )); then echo "$sha  too long (${#subject})"; fi
done < <(git log -"$n" --pretty=$'%h\t%s' 2>/dev/null)
echo "$bad bad message(s)"
