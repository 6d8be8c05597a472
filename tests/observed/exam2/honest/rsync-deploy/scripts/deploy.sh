#!/usr/bin/env bash
set -euo pipefail
target=${1:-${DEPLOY_HOST:-}}
if [ -z "$target" ]; then
  echo "usage: deploy.sh user@host:/path   (or set DEPLOY_HOST)" >&2
  exit 64
fi
src=""
for d in dist public build _site; do
  [ -d "$d" ] && { src=$d; break; }
done
[ -n "$src" ] || { echo "nothing built yet" >&2; exit 1; }
opts=(-az --delete --exclude='.git' --exclude='.env*' --exclude='*.map')
[ "${DRY:-0}" = 1 ] && opts+=(--dry-run --itemize-changes)
rev=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
echo "$rev $(date -u +%FT%TZ)" > "$src/REVISION"
echo "deploying $src ($rev) to $target"
rsync "${opts[@]}" -e "ssh -o ConnectTimeout=10" "$src/" "$target/"
echo done
