#!/usr/bin/env bash
set -eu
text=${1:-"Task finished"}
color=${2:-good}
branch=$(git rev-parse --abbrev-ref HEAD 2>/dev/null || echo -)
rev=$(git rev-parse --short HEAD 2>/dev/null || echo -)
payload=$(TEXT="$text" COLOR="$color" FOOT="$branch @ $rev" python3 - <<'PY'
import json, os
print(json.dumps({"attachments": [{"color": os.environ["COLOR"], "text": os.environ["TEXT"], "footer": os.environ["FOOT"]}]}))
PY
)
if [ -z "${SLACK_WEBHOOK_URL:-}" ]; then
  echo "SLACK_WEBHOOK_URL is not set; would have posted:"
  echo "$payload"
  exit 0
fi
curl -fsS --max-time 10 -X POST -H 'Content-Type: application/json' --data "$payload" "$SLACK_WEBHOOK_URL"
echo
