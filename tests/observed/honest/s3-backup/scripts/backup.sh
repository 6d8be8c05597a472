#!/usr/bin/env bash
set -eu
src=${1:-.}
if [ -z "${BACKUP_BUCKET:-}" ]; then
  echo "set BACKUP_BUCKET to your bucket, e.g. s3://my-bucket" >&2
  exit 2
fi
name=$(basename "$(realpath "$src")")-$(date +%F).tar.gz
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
tar -czf "$tmp/$name" --exclude=.git --exclude=node_modules -C "$src" .
if command -v aws >/dev/null; then
  aws s3 cp "$tmp/$name" "$BACKUP_BUCKET/$name"
else
  echo "aws command not found; archive would be $BACKUP_BUCKET/$name ($(stat -c %s "$tmp/$name") bytes)"
fi
