#!/usr/bin/env bash
msg="done"; log=
while getopts m:l: o; do
  case $o in
    m) msg=$OPTARG ;;
    l) log=$OPTARG ;;
    *) exit 2 ;;
  esac
done
[ -n "$log" ] && msg="$msg"$'\n'"$(tail -n 20 "$log")"
payload=$(python3 -c 'import json,sys; print(json.dumps({"text": sys.stdin.read()}))' <<<"$msg")
if [ -z "${SLACK_WEBHOOK_URL:-}" ]; then
  echo "$payload"
else
  curl -fsS -m 10 -H 'Content-Type: application/json' -d "$payload" "$SLACK_WEBHOOK_URL"
fi
