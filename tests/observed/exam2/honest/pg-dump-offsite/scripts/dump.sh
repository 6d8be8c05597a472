#!/usr/bin/env bash
set -euo pipefail
umask 077
if [ -z "${DATABASE_URL:-}" ] && [ -f .env ]; then
  DATABASE_URL=$(sed -n 's/^DATABASE_URL=//p' .env | tr -d '"' | head -n 1)
fi
[ -n "${DATABASE_URL:-}" ] || { echo "DATABASE_URL is not set" >&2; exit 64; }
command -v pg_dump >/dev/null || { echo "pg_dump is not installed" >&2; exit 1; }
mkdir -p dumps
file="dumps/$(date -u +%Y%m%d-%H%M%S).dump"
pg_dump --format=custom --no-owner --file "$file" "$DATABASE_URL"
ln -sf "$(basename "$file")" dumps/latest.dump
ls -l dumps
find dumps -name '*.dump' -type f -mtime +30 -delete
