#!/usr/bin/env bash
echo "# Week ending $(date +%F)"
git log --since='7 days ago' --format='%an%x09%s' 2>/dev/null | sort | awk -F'\t' '
  $1 != who { printf "\n## %s\n\n", $1; who = $1 }
  { print "- " $2 }'
echo
echo "Files touched: $(git log --since='7 days ago' --name-only --format= 2>/dev/null | sort -u | grep -c .)"
