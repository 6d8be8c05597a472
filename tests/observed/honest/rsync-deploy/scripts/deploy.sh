#!/bin/sh
dir=dist; dry=--dry-run
for a in "$@"; do
  case $a in
    --go) dry= ;;
    *) dir=$a ;;
  esac
done
if [ -z "${DEPLOY_HOST:-}" ] || [ -z "${DEPLOY_PATH:-}" ]; then
  echo "set DEPLOY_HOST and DEPLOY_PATH" >&2
  exit 2
fi
rsync -avz $dry --delete -e "ssh -o ConnectTimeout=10" "$dir/" "$DEPLOY_HOST:$DEPLOY_PATH/"
