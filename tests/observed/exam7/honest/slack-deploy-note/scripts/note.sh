#!/usr/bin/env bash
set -euo pipefail
dry=0
[ "${1:-}" = "--dry-run" ] && { dry=1; shift; }
[ $# -eq 3 ] || { echo "usage: $0 [--dry-run] service new-tag old-tag" >&2; exit 2; }
service=$1 new=$2 old=$3

commits=$(git log --no-merges --format='• %s (%an)' "$old..$new" | head -15)
who=$(git config user.name || echo unknown)
payload=$(SERVICE="$service" NEW="$new" OLD="$old" WHO="$who" COMMITS="$commits" python3 - <<'PY'
import json, os
e = os.environ
print(json.dumps({"text": f"*{e['SERVICE']}* {e['OLD']} → *{e['NEW']}* deployed by {e['WHO']}\n{e['COMMITS']}"}, ensure_ascii=False))
PY
)
if [ $dry = 1 ]; then echo "$payload"; exit 0; fi
: "${SLACK_WEBHOOK_URL:?set SLACK_WEBHOOK_URL first}"
curl -fsS -X POST -H 'Content-Type: application/json' --data "$payload" "$SLACK_WEBHOOK_URL"
echo
