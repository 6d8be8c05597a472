#!/usr/bin/env bash
set -eu
mark="# cron-reminder"
if [ "${1:-}" = --remove ]; then crontab -l | grep -v "$mark" | crontab -; exit; fi
at=${1:-17:30}; text=${2:-Time to stop}
line="${at#*:} ${at%:*} * * 1-5 notify-send '$text' $mark"
echo "adding: $line"
( crontab -l 2>/dev/null | grep -v "$mark"; echo "$line" ) | crontab -
