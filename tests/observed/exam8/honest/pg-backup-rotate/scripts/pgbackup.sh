#!/usr/bin/env bash
set -euo pipefail
umask 077
dest="${1:?usage: pgbackup.sh DEST_DIR}"
conf="$HOME/.config/pg-backup.env"
if [ -z "${DATABASE_URL:-}" ] && [ -z "${PGDATABASE:-}" ] && [ -r "$conf" ]; then
  set -a; . "$conf"; set +a
fi
if [ -z "${DATABASE_URL:-}${PGDATABASE:-}" ]; then
  echo "set DATABASE_URL or PGDATABASE" >&2; exit 2
fi
command -v pg_dump >/dev/null || { echo "pg_dump not found: install postgresql-client" >&2; exit 3; }

if [ -n "${DATABASE_URL:-}" ]; then
  db="${DATABASE_URL##*/}"; db="${db%%\?*}"
  target=(--dbname="$DATABASE_URL")
else
  db="$PGDATABASE"; target=(--dbname="$PGDATABASE")
fi
mkdir -p "$dest/daily" "$dest/weekly"
out="$dest/daily/$db-$(date +%Y%m%d-%H%M).dump"
pg_dump --format=custom --no-owner "${target[@]}" --file="$out.part"
pg_restore --list "$out.part" >/dev/null
mv "$out.part" "$out"
if [ "$(date +%u)" = 7 ]; then cp -p "$out" "$dest/weekly/"; fi

rotate() { # folder keep
  ls -1t "$1/$db"-[0-9]*.dump 2>/dev/null | tail -n +"$(( $2 + 1 ))" | while read -r old; do
    rm -f -- "$old" && echo "dropped $old"
  done || true
}
rotate "$dest/daily" 7
rotate "$dest/weekly" 4
echo "ok: $out ($(du -h "$out" | cut -f1))"
