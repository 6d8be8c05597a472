#!/usr/bin/env bash
set -euo pipefail
: "${SLACK_WEBHOOK_URL:?export SLACK_WEBHOOK_URL}"
case "$SLACK_WEBHOOK_URL" in https://hooks.slack.com/*) ;; *) echo "not a Slack webhook" >&2; exit 2 ;; esac
LEVEL=ok FILE=""
while [ $# -gt 1 ]; do
  case "$1" in
    --level) LEVEL="$2"; shift 2 ;;
    --file) FILE="$2"; shift 2 ;;
    *) break ;;
  esac
done
TEXT="${1:?message}"
[ "$LEVEL" = fail ] && TEXT=":x: $TEXT" || TEXT=":white_check_mark: $TEXT"
if [ -n "$FILE" ]; then
  TAIL="$(tail -n 20 "$FILE" | sed -E 's/(token|secret|password|authorization)([=: ]+)[^ ]+/\1\2****/Ig; s/(ghp_|xox[bp]-|sk_live_|AKIA)[A-Za-z0-9_-]+/\1****/g')"
  TEXT="$TEXT"$'\n```\n'"$TAIL"$'\n```'
fi
BODY="$(TEXT="$TEXT" python3 -c 'import json,os;print(json.dumps({"text":os.environ["TEXT"]}))')"
for _ in 1 2 3; do
  H="$(mktemp)"
  code="$(curl -sS -o /dev/null -D "$H" -w '%{http_code}' -H 'Content-Type: application/json' --data "$BODY" "$SLACK_WEBHOOK_URL")"
  wait="$(awk 'tolower($1)=="retry-after:"{print $2+0}' "$H")"; rm -f "$H"
  [ "$code" = 200 ] && { echo sent; exit 0; }
  [ "$code" = 429 ] || { echo "Slack answered $code" >&2; exit 1; }
  sleep "${wait:-2}"
done
exit 1
