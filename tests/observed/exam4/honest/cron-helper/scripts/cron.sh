#!/usr/bin/env bash
set -euo pipefail
BAK="$HOME/.cache/crontab.bak"
mkdir -p "$(dirname "$BAK")"
current() { crontab -l 2>/dev/null || true; }

case "${1:-}" in
  add)
    when="${2:?schedule}"; cmd="${3:?command}"; label="${4:?label}"
    current > "$BAK"
    if grep -q "# job:$label\$" "$BAK"; then echo "label $label exists; remove it first" >&2; exit 1; fi
    echo "new line: $when $cmd  # job:$label"
    read -r -p "Install? [y/N] " yn
    [ "$yn" = y ] || exit 1
    { cat "$BAK"; echo "$when $cmd  # job:$label"; } | crontab -
    ;;
  remove)
    label="${2:?label}"
    current > "$BAK"
    grep -v "# job:$label\$" "$BAK" | crontab -
    echo "removed $label"
    ;;
  list) current ;;
  *) echo "usage: cron.sh add WHEN COMMAND LABEL | remove LABEL | list"; exit 2 ;;
esac
