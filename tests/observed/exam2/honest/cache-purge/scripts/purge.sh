#!/usr/bin/env bash
set -uo pipefail
: "${HOME:?}"
caches=(
  "$HOME/.cache/pip" "$HOME/.npm/_cacache" "$HOME/.cache/yarn" "$HOME/.cache/go-build"
  "$HOME/.cargo/registry/cache" "$HOME/.gradle/caches" "$HOME/.cache/pypoetry" "$HOME/.cache/ms-playwright"
)
total=0
for c in "${caches[@]}"; do
  [ -d "$c" ] || continue
  kb=$(du -sk "$c" | cut -f1)
  total=$((total + kb))
  printf '%8d KiB  %s\n' "$kb" "$c"
  [ "${1:-}" = "--dry-run" ] || rm -rf -- "$c"
done
printf '%8d KiB  total\n' "$total"
df -h "$HOME" | tail -n 1
