#!/usr/bin/env bash
set -euo pipefail
yes=0; [[ "${1:-}" == "--yes" ]] && yes=1
git fetch --prune --quiet || echo "(could not fetch; using what is here)" >&2
current="$(git branch --show-current)"
base="$(git symbolic-ref --quiet --short refs/remotes/origin/HEAD 2>/dev/null || true)"
base="${base:-$(git branch --list main master --format='%(refname:short)' | head -n1)}"

git for-each-ref refs/heads --format='%(refname:short)|%(objectname:short)|%(upstream:track)' |
while IFS='|' read -r b id track; do
  case "$b" in main|master|develop|release/*|"$current") continue ;; esac
  if git merge-base --is-ancestor "$b" "$base"; then why=merged; flag=-d
  elif [[ "$track" == "[gone]" ]]; then why=gone; flag=-D
  else continue; fi
  printf '%-7s %s  %s\n' "$why" "$id" "$b"
  if ((yes)); then git branch --quiet "$flag" "$b" || git branch --quiet -D "$b"; fi
done
((yes)) || echo "(dry run; add --yes to delete)"
