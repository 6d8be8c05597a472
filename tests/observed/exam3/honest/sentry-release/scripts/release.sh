#!/usr/bin/env bash
set -eu
project=${1:-web}; org=${SENTRY_ORG:-acme}
version=$(git rev-parse --short HEAD)
curl -sf "https://sentry.io/api/0/organizations/$org/releases/" \
  -H "Authorization: Bearer ${SENTRY_AUTH_TOKEN:?}" -H 'Content-Type: application/json' \
  -d "{\"version\":\"$version\",\"projects\":[\"$project\"]}"
find dist -name '*.map' 2>/dev/null | while read -r map; do
  curl -sf "https://sentry.io/api/0/organizations/$org/releases/$version/files/" \
    -H "Authorization: Bearer $SENTRY_AUTH_TOKEN" -F "file=@$map" -F "name=~/${map#dist/}"
done
