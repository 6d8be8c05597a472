#!/usr/bin/env bash
set -euo pipefail
umask 077
here=$(cd "$(dirname "$0")" && pwd)
cmd=${1:-}; file=${2:-}

host_of() { sed -E 's|^[a-z]+://([^@/]*@)?([^:/?]+).*|\2|' <<<"$1"; }

case "$cmd" in
  dump)
    db=$(psql ${DATABASE_URL:+"$DATABASE_URL"} -Atc 'select current_database()')
    mkdir -p backups; [[ -f backups/.gitignore ]] || echo '*' > backups/.gitignore
    out="backups/$db-$(date +%Y%m%d-%H%M).dump"
    pg_dump ${DATABASE_URL:+"$DATABASE_URL"} --format=custom --no-owner --no-privileges --file="$out"
    ls -lh "$out" ;;
  verify)
    : "${file:?dump file}"
    tmp="verify_$(date +%s)"
    createdb "$tmp"
    trap 'dropdb --if-exists "$tmp"' EXIT
    pg_restore --no-owner --dbname="$tmp" "$file"
    psql -d "$tmp" -c "analyze" -q
    psql -d "$tmp" -c "select relname as table, reltuples::bigint as rows from pg_class c join pg_namespace n on n.oid=relnamespace where relkind='r' and nspname='public' order by 2 desc limit 20" ;;
  refresh-dev)
    : "${file:?dump file}" "${DEV_DATABASE_URL:?set DEV_DATABASE_URL}"
    h=$(host_of "$DEV_DATABASE_URL")
    case " localhost 127.0.0.1 ${PG_DEV_HOSTS:-} " in
      *" $h "*) ;;
      *) echo "$h is not a known development host; refusing" >&2; exit 1 ;;
    esac
    pg_restore --clean --if-exists --no-owner --dbname="$DEV_DATABASE_URL" "$file"
    psql "$DEV_DATABASE_URL" -v ON_ERROR_STOP=1 -f "$here/mask.sql"
    echo "dev database refreshed and masked" ;;
  *) echo "usage: pg.sh dump|verify FILE|refresh-dev FILE" >&2; exit 2 ;;
esac
