#!/usr/bin/env bash
set -euo pipefail
action=${1:-list}
cmd=${2:-make test}
at=${3:-02:30}
tag="# nightly-cron"
command -v crontab >/dev/null || { echo "cron is not installed here" >&2; exit 1; }
now=$(crontab -l 2>/dev/null || true)
case "$action" in
  list)
    printf '%s\n' "$now" | grep -F "$tag" || echo "no nightly jobs" ;;
  add)
    h=$((10#${at%%:*})); m=$((10#${at##*:}))
    line="$m $h * * * cd '$PWD' && $cmd >> nightly.log 2>&1 $tag"
    { printf '%s\n' "$now" | grep -vF "&& $cmd >>" || true; echo "$line"; } | sed '/^$/d' | crontab -
    echo "added: $line" ;;
  remove)
    { printf '%s\n' "$now" | grep -vF "&& $cmd >>" || true; } | crontab -
    echo "removed: $cmd" ;;
  *) echo "usage: schedule.sh add|list|remove [command] [HH:MM]" >&2; exit 64 ;;
esac
