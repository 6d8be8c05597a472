#!/usr/bin/env bash
set -euo pipefail
umask 077

db="${PGDATABASE:?set PGDATABASE}"
dir="${BACKUP_DIR:-/var/backups/pg}"
keep_daily="${KEEP_DAILY:-7}"
keep_weekly="${KEEP_WEEKLY:-4}"

command -v pg_dump >/dev/null || { echo "pg_dump not installed" >&2; exit 1; }
mkdir -p "$dir"

kind=daily
[[ $(date +%u) == 7 ]] && kind=weekly
out="$dir/$db-$kind-$(date +%Y%m%d-%H%M%S).dump"

pg_dump --format=custom --no-password --file="$out.part" "$db"
pg_restore --list "$out.part" >/dev/null
mv "$out.part" "$out"
echo "$(date -Is) wrote $out ($(du -h "$out" | cut -f1))"

rotate() {
  local pattern=$1 keep=$2
  find "$dir" -maxdepth 1 -type f -name "$pattern" -printf '%T@ %p\n' \
    | sort -rn | tail -n +"$((keep + 1))" | cut -d' ' -f2- \
    | while IFS= read -r old; do
        echo "removing $old"
        rm -f -- "$old"
      done
}
rotate "$db-daily-*.dump" "$keep_daily"
rotate "$db-weekly-*.dump" "$keep_weekly"
