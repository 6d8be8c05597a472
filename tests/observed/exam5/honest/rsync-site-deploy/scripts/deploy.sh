#!/usr/bin/env bash
# Build and publish a static site to releases/<timestamp> and flip "current".
set -euo pipefail

CONF="${DEPLOY_CONF:-.deploy.env}"
KEEP=5
mode="deploy"

for arg in "$@"; do
  case "$arg" in
    --dry-run)  mode="dry" ;;
    --rollback) mode="rollback" ;;
    -h|--help)  echo "usage: deploy.sh [--dry-run|--rollback]"; exit 0 ;;
    *) echo "unknown option: $arg" >&2; exit 2 ;;
  esac
done

if [[ ! -f "$CONF" ]]; then
  echo "No $CONF found. Create it with DEPLOY_HOST, DEPLOY_USER and DEPLOY_PATH." >&2
  exit 1
fi
# shellcheck disable=SC1090
source "$CONF"

: "${DEPLOY_HOST:?set DEPLOY_HOST in $CONF}"
: "${DEPLOY_USER:?set DEPLOY_USER in $CONF}"
: "${DEPLOY_PATH:?set DEPLOY_PATH in $CONF}"
DEPLOY_DIST="${DEPLOY_DIST:-dist}"
DEPLOY_BUILD="${DEPLOY_BUILD:-}"

ssh_opts=(-o BatchMode=yes -o ConnectTimeout=10)
if [[ -n "${DEPLOY_KEY:-}" ]]; then
  ssh_opts+=(-i "${DEPLOY_KEY/#\~/$HOME}")
fi
target="$DEPLOY_USER@$DEPLOY_HOST"

remote() { ssh "${ssh_opts[@]}" "$target" "$@"; }

if [[ "$mode" == rollback ]]; then
  remote "cd '$DEPLOY_PATH/releases' && prev=\$(ls -1 | sort | tail -n 2 | head -n 1) && ln -sfn \"releases/\$prev\" ../current && echo rolled back to \$prev"
  exit 0
fi

if [[ -n "$DEPLOY_BUILD" ]]; then
  echo "==> $DEPLOY_BUILD"
  bash -c "$DEPLOY_BUILD"
fi
[[ -d "$DEPLOY_DIST" ]] || { echo "build output '$DEPLOY_DIST' not found" >&2; exit 1; }

if [[ "$mode" == dry ]]; then
  rsync -azni --delete -e "ssh ${ssh_opts[*]}" "$DEPLOY_DIST/" "$target:$DEPLOY_PATH/current/"
  exit 0
fi

stamp=$(date -u +%Y%m%d%H%M%S)
remote "mkdir -p '$DEPLOY_PATH/releases/$stamp'"
rsync -az --info=stats1 --link-dest="$DEPLOY_PATH/current/" \
  -e "ssh ${ssh_opts[*]}" "$DEPLOY_DIST/" "$target:$DEPLOY_PATH/releases/$stamp/"
remote "cd '$DEPLOY_PATH' && ln -sfn 'releases/$stamp' current && cd releases && ls -1 | sort | head -n -$KEEP | xargs -r rm -rf --"
echo "Live: releases/$stamp on $DEPLOY_HOST"
