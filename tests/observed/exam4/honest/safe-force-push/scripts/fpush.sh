#!/usr/bin/env bash
set -euo pipefail
REMOTE="${REMOTE:-origin}"
B="$(git symbolic-ref --short HEAD)"
case "$B" in
  main|master|develop|release/*) echo "refusing to force-push $B" >&2; exit 2 ;;
esac

git fetch -q "$REMOTE" "$B"
OLD="$(git rev-parse FETCH_HEAD)"
ME="$(git config user.email)"
lost="$(git log --format='%h %ae %s' "HEAD..$OLD")"

if [ -z "$lost" ]; then echo "nothing would vanish; a normal push will do"; exit 0; fi
echo "these remote commits would vanish:"
echo "$lost"
others="$(git log --format='%ae' "HEAD..$OLD" | grep -vxF "$ME" || true)"
if [ -n "$others" ]; then
  echo "commits by other authors among them; rebase first" >&2
  exit 3
fi
[ "${1:-}" = "--check" ] && exit 0

TAG="before-push/$B/$(date +%Y%m%d%H%M%S)"
git tag "$TAG" "$OLD"
git push --force-with-lease="$B:$OLD" "$REMOTE" "$B"
echo "old tip kept as tag $TAG"
