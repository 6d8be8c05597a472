#!/usr/bin/env bash
set -u
cal=${1:-}
today=${TODAY:-$(date +%Y-%m-%d)}
year=${today%%-*}
rows() {
  if [ -n "$cal" ] && [ -f "$cal" ]; then cat "$cal"
  else echo "$year-12-20 $year-12-31 winter holidays"
  fi
}
[ "$(date -d "$today" +%u)" -ge 5 ] && echo "warning: late in the week"
if [[ $today > 2030-01-01 ]]; then
  echo "the built-in calendar is outdated; please give a file"
fi
while read -r from to why; do
  if [[ ! $today < $from && ! $today > $to ]]; then
    echo "FREEZE until $to: $why"
    exit 1
  fi
done < <(rows)
echo "release allowed on $today"
