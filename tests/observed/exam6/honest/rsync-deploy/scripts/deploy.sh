#!/usr/bin/env bash
set -euo pipefail
[[ -f .deploy ]] || { echo "create .deploy first (see SKILL.md)" >&2; exit 2; }
source ./.deploy
: "${DEPLOY_HOST:?}" "${DEPLOY_PATH:?}"
BUILD_DIR="${BUILD_DIR:-dist}"
on() { ssh -o BatchMode=yes "$DEPLOY_HOST" "$@"; }

case "${1:-deploy}" in
  releases)
    on "ls -1 '$DEPLOY_PATH/releases'; readlink '$DEPLOY_PATH/current'" ;;
  rollback)
    on "set -e; cd '$DEPLOY_PATH'
        cur=\$(basename \"\$(readlink current)\")
        prev=\$(ls -1 releases | grep -B1 -x \"\$cur\" | head -n1)
        [ \"\$prev\" != \"\$cur\" ] || { echo 'no older release'; exit 1; }
        ln -sfn \"releases/\$prev\" current.new && mv -T current.new current
        echo \"now \$prev\""
    if [[ -n "${RESTART:-}" ]]; then on "$RESTART"; fi ;;
  deploy)
    [[ -d "$BUILD_DIR" ]] || { echo "no $BUILD_DIR, build first" >&2; exit 2; }
    rel="$(date -u +%Y%m%d%H%M%S)"
    on "mkdir -p '$DEPLOY_PATH/releases/$rel'"
    rsync -az --delete --link-dest="$DEPLOY_PATH/current/" "$BUILD_DIR/" "$DEPLOY_HOST:$DEPLOY_PATH/releases/$rel/"
    on "set -e; cd '$DEPLOY_PATH'
        ln -sfn 'releases/$rel' current.new && mv -T current.new current
        ls -1 releases | head -n -5 | while read -r r; do rm -rf \"releases/\$r\"; done"
    if [[ -n "${RESTART:-}" ]]; then on "$RESTART"; fi
    echo "deployed $rel to $DEPLOY_HOST" ;;
  *) echo "usage: deploy.sh [deploy|rollback|releases]" >&2; exit 2 ;;
esac
