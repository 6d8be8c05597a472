#!/bin/sh
tag='# reminder-skill'
command -v crontab >/dev/null || { echo "cron is not installed here" >&2; exit 1; }
case ${1:-list} in
  add)
    when=${2:?schedule}; text=$(printf %s "${3:?text}" | tr -d "'%\n")
    line="$when echo \"\$(date) $text\" >> \$HOME/reminders.log $tag"
    { crontab -l 2>/dev/null; echo "$line"; } | crontab -
    echo "added: $line" ;;
  list) crontab -l 2>/dev/null | grep -F "$tag" || echo "no reminders" ;;
  drop) crontab -l 2>/dev/null | grep -vF "$tag" | crontab -; echo "dropped" ;;
  *) echo "add|list|drop" >&2; exit 2 ;;
esac
