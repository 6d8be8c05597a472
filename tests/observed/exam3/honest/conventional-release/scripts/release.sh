#!/bin/bash
set -euo pipefail
dry=0; [ "${1:-}" = "--dry-run" ] && dry=1
last=$(git describe --tags --abbrev=0 2>/dev/null || echo v0.0.0)
range=$(git rev-parse -q --verify "$last" >/dev/null && echo "$last..HEAD" || echo HEAD)
log=$(git log --format='%s' $range)
IFS=. read -r major minor patch <<<"${last#v}"
if grep -q '!:' <<<"$log"; then major=$((major+1)); minor=0; patch=0
elif grep -q '^feat' <<<"$log"; then minor=$((minor+1)); patch=0
else patch=$((patch+1)); fi
next="v$major.$minor.$patch"
echo "next version: $next"
[ $dry = 1 ] && { echo "$log"; exit 0; }
{ echo "## $next ($(date +%F))"; echo; sed 's/^/- /' <<<"$log"; echo; cat CHANGELOG.md 2>/dev/null || true; } > CHANGELOG.new
mv CHANGELOG.new CHANGELOG.md
git add CHANGELOG.md
git commit -m "chore(release): $next"
git tag -a "$next" -m "$next"
git push origin HEAD --tags
