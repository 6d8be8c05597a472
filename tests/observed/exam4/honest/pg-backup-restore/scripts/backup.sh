#!/usr/bin/env bash
set -euo pipefail
: "${PGDATABASE:?}" "${BACKUP_RECIPIENT:?}" "${BACKUP_TARGET:?}"
STAMP="$(date -u +%Y%m%d)"
F="$PGDATABASE-$STAMP.dump.age"
T="$(mktemp -d)"; trap 'rm -rf "$T"' EXIT
umask 077

pg_dump --format=custom --compress=6 "$PGDATABASE" | age -r "$BACKUP_RECIPIENT" > "$T/$F"
SIZE=$(wc -c < "$T/$F")
[ "$SIZE" -gt 1000 ] || { echo "dump is suspiciously small ($SIZE bytes)" >&2; exit 1; }

case "$BACKUP_TARGET" in
  *:*) rclone copyto "$T/$F" "$BACKUP_TARGET/$F"
       list() { rclone lsf "$BACKUP_TARGET" --include "$PGDATABASE-*.dump.age"; }
       drop() { rclone deletefile "$BACKUP_TARGET/$1"; } ;;
  *)   cp "$T/$F" "$BACKUP_TARGET/$F"
       list() { (cd "$BACKUP_TARGET" && ls -1 "$PGDATABASE"-*.dump.age); }
       drop() { rm -- "$BACKUP_TARGET/$1"; } ;;
esac

keep() { # daily 7 days, Sundays 4 weeks, first of month 1 year
  local d="$1" age; age=$(( ( $(date -u +%s) - $(date -u -d "$d" +%s) ) / 86400 ))
  [ $age -lt 7 ] && return 0
  [ "$(date -u -d "$d" +%u)" = 7 ] && [ $age -lt 28 ] && return 0
  [ "$(date -u -d "$d" +%d)" = 01 ] && [ $age -lt 366 ] && return 0
  return 1
}
list | sort | while read -r f; do
  d="${f#"$PGDATABASE-"}"; d="${d%.dump.age}"
  keep "$d" || { echo "prune $f"; drop "$f"; }
done
echo "$F $SIZE bytes"
