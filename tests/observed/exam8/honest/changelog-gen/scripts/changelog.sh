#!/usr/bin/env bash
set -euo pipefail
last="$(git describe --tags --abbrev=0 2>/dev/null || true)"
range="${last:+$last..}HEAD"
section() { # title regex
  local lines
  lines="$(git log --no-merges --format='%s (%h)' "$range" | grep -E "$2" | sed -E 's/^[a-z]+(\(([^)]*)\))?!?: /\2: /; s/^: //; s/^/- /' || true)"
  if [ -n "$lines" ]; then printf '### %s\n\n%s\n\n' "$1" "$lines"; fi
}
body() {
  section Breaking '^[a-z]+(\([^)]*\))?!: '
  section Added '^feat(\([^)]*\))?: '
  section Fixed '^fix(\([^)]*\))?: '
  section Changed '^(refactor|perf|revert)(\([^)]*\))?: '
  section Documentation '^docs(\([^)]*\))?: '
}
text="$(body)"
[ -n "$text" ] || { echo "nothing worth noting since ${last:-the start}"; exit 0; }
if [ "${1:-}" != "--write" ]; then printf '## [Unreleased]\n\n%s\n' "$text"; exit 0; fi
ver="${2:?version}"
[[ $ver =~ ^[0-9]+\.[0-9]+\.[0-9]+ ]] || { echo "not a version: $ver" >&2; exit 2; }
f=CHANGELOG.md
[ -e "$f" ] || printf '# Changelog\n\n' > "$f"
if grep -qF "## [$ver]" "$f"; then echo "$ver is in $f already" >&2; exit 2; fi
tmp="$(mktemp)"
{ head -n 1 "$f"; printf '\n## [%s] - %s\n\n%s\n' "$ver" "$(date +%F)" "$text"; tail -n +2 "$f"; } > "$tmp"
cat "$tmp" > "$f"; rm -f "$tmp"
echo "wrote $ver to $f"
