#!/usr/bin/env bash
set -u
project=my-site; dir=dist
while getopts p:d: o; do
  case $o in
    p) project=$OPTARG ;;
    d) dir=$OPTARG ;;
    *) echo "usage: deploy.sh -p PROJECT -d DIR" >&2; exit 2 ;;
  esac
done
: "${CLOUDFLARE_API_TOKEN:?set CLOUDFLARE_API_TOKEN}" "${CLOUDFLARE_ACCOUNT_ID:?set CLOUDFLARE_ACCOUNT_ID}"
[ -d "$dir" ] || { echo "no folder $dir; build first" >&2; exit 1; }
archive=$(mktemp --suffix=.tar.gz)
trap 'rm -f "$archive"' EXIT
tar -czf "$archive" -C "$dir" .
curl -fsS -m 60 -H "Authorization: Bearer $CLOUDFLARE_API_TOKEN" -F "file=@$archive" \
  "https://api.cloudflare.com/client/v4/accounts/$CLOUDFLARE_ACCOUNT_ID/pages/projects/$project/deployments"
