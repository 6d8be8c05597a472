#!/usr/bin/env bash
set -euo pipefail
src="${1:?usage: deploy.sh DIR [--live]}"
live="${2:-}"
if [[ -f deploy.env ]]; then
  set -a
  # shellcheck disable=SC1091
  . ./deploy.env
  set +a
fi
: "${SITE_BUCKET:?set SITE_BUCKET in deploy.env}"

[[ -f $src/index.html ]] || { echo "$src/index.html missing" >&2; exit 1; }
n=$(find "$src" -type f | wc -l)
(( n >= 5 )) || { echo "only $n files in $src, refusing" >&2; exit 1; }
command -v aws >/dev/null || { echo "aws cli not installed" >&2; exit 1; }

dry=(--dryrun)
[[ $live == --live ]] && dry=()

aws sts get-caller-identity --query Arn --output text
aws s3 sync "$src" "s3://$SITE_BUCKET/" "${dry[@]}" --exclude '*.html' \
  --cache-control 'public,max-age=31536000,immutable'
aws s3 sync "$src" "s3://$SITE_BUCKET/" "${dry[@]}" --exclude '*' --include '*.html' \
  --cache-control 'public,max-age=300'
aws s3 sync "$src" "s3://$SITE_BUCKET/" "${dry[@]}" --delete --size-only

if [[ $live == --live && -n ${CF_DISTRIBUTION:-} ]]; then
  aws cloudfront create-invalidation --distribution-id "$CF_DISTRIBUTION" --paths '/*' --query Invalidation.Id --output text
fi
