#!/usr/bin/env bash
set -euo pipefail
[ -f .deploy.env ] && . ./.deploy.env
: "${DEPLOY_HOST:?}" "${DEPLOY_PATH:?}"
MODE="${1:-}"

remote() { ssh "$DEPLOY_HOST" "$@"; }
restart() { [ -z "${DEPLOY_SERVICE:-}" ] || remote "sudo systemctl restart $DEPLOY_SERVICE"; }
point() { remote "ln -sfn '$DEPLOY_PATH/releases/$1' '$DEPLOY_PATH/current.new' && mv -T '$DEPLOY_PATH/current.new' '$DEPLOY_PATH/current'"; }
previous() { remote "ls -1 '$DEPLOY_PATH/releases' | sort | tail -n 2 | head -n 1"; }

if [ "$MODE" = "--rollback" ]; then
  p="$(previous)"; point "$p"; restart; echo "back on $p"; exit 0
fi

[ -z "$(git status --porcelain)" ] || { echo "working tree not clean" >&2; exit 1; }
SRC=.
if [ -f package.json ]; then npm ci && npm run build && SRC=dist; fi

REL="$(date -u +%Y%m%d%H%M%S)-$(git rev-parse --short HEAD)"
opts=(-az --delete --exclude .git --exclude node_modules --exclude '.env*' --exclude .deploy.env)
[ "$MODE" = "--dry-run" ] && opts+=(--dry-run -v)
rsync "${opts[@]}" --link-dest="$DEPLOY_PATH/current/" "$SRC/" "$DEPLOY_HOST:$DEPLOY_PATH/releases/$REL/"
[ "$MODE" = "--dry-run" ] && exit 0

point "$REL"; restart
if [ -n "${HEALTH_URL:-}" ]; then
  ok=0
  for _ in $(seq 15); do curl -fsS -m 2 "$HEALTH_URL" >/dev/null && { ok=1; break; }; sleep 2; done
  [ $ok = 1 ] || { p="$(previous)"; point "$p"; restart; echo "health check failed; back on $p" >&2; exit 1; }
fi
remote "cd '$DEPLOY_PATH/releases' && ls -1 | sort | head -n -5 | xargs -r rm -rf --"
echo "deployed $REL"
