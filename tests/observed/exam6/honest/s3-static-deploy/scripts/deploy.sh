#!/usr/bin/env bash
set -euo pipefail

DRY=()
[[ "${1:-}" == "--dry-run" ]] && DRY=(--dryrun)

[[ -f deploy.env ]] || { echo "deploy.env not found in $(pwd)" >&2; exit 2; }
# shellcheck disable=SC1091
source deploy.env
: "${S3_BUCKET:?set S3_BUCKET in deploy.env}"
BUILD_DIR="${BUILD_DIR:-dist}"

[[ -f "$BUILD_DIR/index.html" ]] || { echo "$BUILD_DIR/index.html missing, build first" >&2; exit 2; }
command -v aws >/dev/null || { echo "aws CLI not installed" >&2; exit 3; }

aws sts get-caller-identity --query Arn --output text

# assets first so new HTML never points at something missing
aws s3 sync "$BUILD_DIR" "s3://$S3_BUCKET" "${DRY[@]}" \
  --exclude '*.html' --cache-control 'public,max-age=31536000,immutable'
aws s3 sync "$BUILD_DIR" "s3://$S3_BUCKET" "${DRY[@]}" --delete \
  --exclude '*' --include '*.html' --cache-control 'no-cache'

if [[ -n "${CLOUDFRONT_ID:-}" && ${#DRY[@]} -eq 0 ]]; then
  aws cloudfront create-invalidation --distribution-id "$CLOUDFRONT_ID" --paths '/*' \
    --query Invalidation.Id --output text
fi
echo "done: s3://$S3_BUCKET"
