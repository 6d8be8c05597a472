#!/usr/bin/env bash
set -uo pipefail
title="" tail_lines=0
while (( $# )); do
  case "$1" in
    --title) title=$2; shift 2 ;;
    --tail) tail_lines=$2; shift 2 ;;
    --) shift; break ;;
    *) echo "usage: notify_run.sh [--title T] [--tail N] -- command..." >&2; exit 2 ;;
  esac
done
(( $# )) || { echo "no command" >&2; exit 2; }
title=${title:-$1}
log=$(mktemp); trap 'rm -f "$log"' EXIT
start=$SECONDS
"$@" 2>&1 | tee "$log"
rc=${PIPESTATUS[0]}
secs=$((SECONDS - start))
state=$([[ $rc -eq 0 ]] && echo finished || echo "failed ($rc)")
msg="$title $state after $((secs / 60))m$((secs % 60))s on $(hostname -s 2>/dev/null || echo host)"
(( tail_lines > 0 )) && msg+=$'\n'"$(tail -n "$tail_lines" "$log")"

json() { python3 -c 'import json,sys; print(json.dumps(dict(zip(sys.argv[1::2], sys.argv[2::2]))))' "$@"; }
post() { curl -fsS -m 15 -o /dev/null "$@" || echo "notification not delivered" >&2; }

if [[ -n "${NOTIFY_NTFY_TOPIC:-}" ]]; then
  post -H "Title: $title" -d "$msg" "${NOTIFY_NTFY_SERVER:-https://ntfy.sh}/$NOTIFY_NTFY_TOPIC"
elif [[ -n "${NOTIFY_TELEGRAM_TOKEN:-}" ]]; then
  post -H 'Content-Type: application/json' -d "$(json chat_id "${NOTIFY_TELEGRAM_CHAT:?}" text "$msg")" \
    "https://api.telegram.org/bot$NOTIFY_TELEGRAM_TOKEN/sendMessage"
elif [[ -n "${NOTIFY_WEBHOOK:-}" ]]; then
  post -H 'Content-Type: application/json' -d "$(json title "$title" message "$msg")" "$NOTIFY_WEBHOOK"
else
  echo "$msg (no NOTIFY_* address set)"
fi
exit "$rc"
