#!/usr/bin/env bash
set -u
token=$(gcloud auth print-access-token 2>/dev/null || true)
if [ -z "$token" ]; then
  echo "Log in first: gcloud auth login" >&2; exit 1
fi
curl -s -H "Authorization: Bearer $token" https://cloudbilling.googleapis.com/v1/billingAccounts | jq -r '.billingAccounts[]?.displayName'
gcloud projects list --format='value(projectId)' | while read -r project; do
  curl -s -H "Authorization: Bearer $token" "https://cloudbilling.googleapis.com/v1/projects/$project/billingInfo" | jq -r '.billingAccountName // "no billing"'
done
