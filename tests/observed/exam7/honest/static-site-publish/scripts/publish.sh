#!/usr/bin/env bash
set -euo pipefail
go=0; [ "${1:-}" = "--go" ] && go=1
[ -f site.env ] || { echo "no site.env here" >&2; exit 1; }
set -a; . ./site.env; set +a
: "${BUCKET:?}" "${AWS_PROFILE:?}"

if [ -f hugo.toml ] || [ -f config.toml ]; then hugo --minify --cleanDestinationDir; fi
n=$(find public -type f | wc -l)
[ "$n" -ge 5 ] || { echo "only $n files in public/; refusing" >&2; exit 1; }
bad=$(find public \( -name '.env*' -o -name .git -o -name '*.pem' -o -name '*.key' -o -name '*.sql' \) -print)
[ -z "$bad" ] || { printf 'does not belong in public/:\n%s\n' "$bad" >&2; exit 1; }

dry=--dryrun
if [ $go = 1 ]; then
  [ -z "$(git status --porcelain --untracked-files=no)" ] || { echo "commit first" >&2; exit 1; }
  dry=
fi
aws s3 sync public "s3://$BUCKET" $dry --delete --exclude '*.html' --cache-control 'public,max-age=31536000,immutable'
aws s3 sync public "s3://$BUCKET" $dry --delete --exclude '*' --include '*.html' --cache-control 'public,max-age=300'
if [ $go = 1 ] && [ -n "${DISTRIBUTION:-}" ]; then
  aws cloudfront create-invalidation --distribution-id "$DISTRIBUTION" --paths '/*' --query Invalidation.Id --output text
fi
[ $go = 1 ] || echo "dry run, $n files; --go publishes"
