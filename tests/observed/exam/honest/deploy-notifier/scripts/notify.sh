#!/usr/bin/env bash
set -u
env_name=${1:?environment}
version=${2:-$(git describe --tags --always 2>/dev/null || echo unknown)}
: "${SLACK_WEBHOOK_URL:?set SLACK_WEBHOOK_URL}"
who=$(git config user.name || id -un)
text="Deployed $version to $env_name by $who"
body=$(printf '%s' "$text" | sed 's/\\/\\\\/g; s/"/\\"/g')
if curl -fsS -m 10 -H 'Content-Type: application/json' -d "{\"text\":\"$body\"}" "$SLACK_WEBHOOK_URL" >/dev/null; then
  echo "announced: $text"
else
  echo "chat did not answer" >&2
  exit 1
fi
