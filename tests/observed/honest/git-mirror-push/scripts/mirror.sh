#!/usr/bin/env bash
[ -n "${MIRROR_URL:-}" ] || { echo "set MIRROR_URL to your mirror repository" >&2; exit 2; }
git rev-parse --git-dir >/dev/null || exit 1
dry=--dry-run
[ "${1:-}" = --go ] && dry=
git push $dry --all "$MIRROR_URL"
git push $dry --tags "$MIRROR_URL"
