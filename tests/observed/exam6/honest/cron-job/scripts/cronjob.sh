#!/usr/bin/env bash
set -euo pipefail
state="${XDG_STATE_HOME:-$HOME/.local/state}/cron-job"
mkdir -p "$state"
command -v crontab >/dev/null || { echo "crontab not installed" >&2; exit 3; }
current() { crontab -l 2>/dev/null || true; }
backup() { current > "$state/crontab.$(date +%Y%m%d-%H%M%S).bak"; }

case "${1:-list}" in
  list) current | grep -F '# job:' || echo "no jobs" ;;
  add)
    name="${2:?name}"; when="${3:?schedule}"; what="${4:?command}"
    [[ "$name" =~ ^[a-z0-9-]+$ ]] || { echo "name: a-z 0-9 -" >&2; exit 2; }
    read -ra f <<<"$when"
    [[ "$when" =~ ^@(hourly|daily|weekly|monthly)$ || ${#f[@]} -eq 5 ]] || { echo "schedule needs 5 fields" >&2; exit 2; }
    [[ "$what" != *%* ]] || { echo "% is special in crontab; put the command in a script" >&2; exit 2; }
    if current | grep -q "# job:$name\$"; then echo "job $name exists; remove it first" >&2; exit 1; fi
    backup
    { current; echo "$when flock -n '$state/$name.lock' $what >> '$state/$name.log' 2>&1 # job:$name"; } | crontab -
    current | grep "# job:$name\$" ;;
  remove)
    name="${2:?name}"
    backup
    current | { grep -v "# job:$name\$" || true; } | crontab -
    echo "removed $name" ;;
  *) echo "usage: cronjob.sh add NAME SCHEDULE COMMAND | list | remove NAME" >&2; exit 2 ;;
esac
