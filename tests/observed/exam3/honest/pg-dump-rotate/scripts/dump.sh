#!/usr/bin/env bash
set -uo pipefail
where="${1:-./dumps}"
mkdir -p "$where"
url="${DATABASE_URL:-postgres://localhost/app}"
file="$where/$(date +%Y-%m-%dT%H%M).sql.gz"
if pg_dump --no-owner "$url" | gzip -9 > "$file"; then
  echo "dumped to $file"
else
  rm -f "$file"; echo "pg_dump failed" >&2; exit 1
fi
ls -1t "$where"/*.sql.gz | tail -n +15 | xargs -r rm --
