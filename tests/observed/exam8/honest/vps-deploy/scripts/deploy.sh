#!/usr/bin/env bash
set -euo pipefail
conf="${DEPLOY_CONF:-deploy.conf}"
[ -r "$conf" ] || { echo "no $conf here (see SKILL.md)" >&2; exit 2; }
# shellcheck disable=SC1090
. "$conf"
: "${DEPLOY_HOST:?}" "${DEPLOY_PATH:?}" "${BUILD_DIR:?}"
keep=5
ssh_() { ssh -o BatchMode=yes -o ConnectTimeout=10 "$DEPLOY_HOST" "$@"; }
switch() { ssh_ "cd '$DEPLOY_PATH' && ln -sfn 'releases/$1' current.new && mv -T current.new current"; }
restart() { if [ -n "${RESTART_CMD:-}" ]; then ssh_ "$RESTART_CMD"; fi; }
healthy() {
  [ -n "${HEALTH_URL:-}" ] || return 0
  for _ in 1 2 3 4 5 6; do
    if curl -fsS --max-time 5 -o /dev/null "$HEALTH_URL"; then return 0; fi
    sleep 3
  done
  return 1
}

case "${1:-}" in
  --check)
    ssh_ "mkdir -p '$DEPLOY_PATH/releases' && test -w '$DEPLOY_PATH' && echo 'server ok'"
    rsync -azn --stats --exclude=.env --exclude=.git --exclude=node_modules "$BUILD_DIR"/ "$DEPLOY_HOST:$DEPLOY_PATH/current/" | grep -E 'Number of (files|regular)' ;;
  --rollback)
    prev="$(ssh_ "cd '$DEPLOY_PATH/releases' && ls -1 | sort | tail -n 2 | head -n 1")"
    [ -n "$prev" ] || { echo "nothing to go back to" >&2; exit 1; }
    switch "$prev"; restart; echo "back on $prev" ;;
  "")
    [ -d "$BUILD_DIR" ] || { echo "no $BUILD_DIR; build first" >&2; exit 2; }
    stamp="$(date -u +%Y%m%d%H%M%S)"
    before="$(ssh_ "mkdir -p '$DEPLOY_PATH/releases'; basename \"\$(readlink '$DEPLOY_PATH/current' || true)\"")"
    rsync -az --exclude=.env --exclude=.git --exclude=node_modules "$BUILD_DIR"/ "$DEPLOY_HOST:$DEPLOY_PATH/releases/$stamp/"
    switch "$stamp"; restart
    if ! healthy; then
      echo "health check failed" >&2
      if [ -n "$before" ]; then switch "$before"; restart; echo "went back to $before" >&2; fi
      exit 1
    fi
    ssh_ "cd '$DEPLOY_PATH/releases' && ls -1 | sort | head -n -$keep | xargs -r rm -rf --"
    echo "live: $stamp" ;;
  *) echo "usage: deploy.sh [--check|--rollback]" >&2; exit 2 ;;
esac
