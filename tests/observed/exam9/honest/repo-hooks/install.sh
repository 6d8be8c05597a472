#!/usr/bin/env bash
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(git rev-parse --show-toplevel)

if [[ ${1:-} == --remove ]]; then
  git -C "$top" config --unset core.hooksPath || true
  echo "hooks switched off for $top"
  exit 0
fi

current=$(git -C "$top" config --get core.hooksPath || true)
if [[ -n $current && $current != .githooks ]]; then
  echo "core.hooksPath is already '$current' (husky?). Not touching it." >&2
  exit 1
fi
mkdir -p "$top/.githooks"
for h in pre-commit commit-msg pre-push; do
  install -m 755 "$here/hooks/$h" "$top/.githooks/$h"
done
git -C "$top" config core.hooksPath .githooks
echo "installed in $top/.githooks"
