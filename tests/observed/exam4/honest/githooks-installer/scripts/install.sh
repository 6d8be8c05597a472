#!/usr/bin/env bash
set -euo pipefail
HERE="$(cd "$(dirname "$0")/.." && pwd)"
MARK="# installed by githooks-installer"

if [ "${1:-}" = "--remove" ]; then
  H="$(git -C "${2:-.}" rev-parse --absolute-git-dir)/hooks"
  for f in "$H"/*; do
    grep -qF "$MARK" "$f" 2>/dev/null || continue
    rm "$f"; [ -e "$f.old" ] && mv "$f.old" "$f"
    echo "removed $(basename "$f")"
  done
  exit 0
fi

REPO="${1:?repo}"; shift
H="$(git -C "$REPO" rev-parse --absolute-git-dir)/hooks"
mkdir -p "$H"
for name in "$@"; do
  src="$HERE/assets/$name"
  [ -f "$src" ] || { echo "no such hook: $name" >&2; exit 2; }
  if [ -e "$H/$name" ] && ! grep -qF "$MARK" "$H/$name"; then mv "$H/$name" "$H/$name.old"; fi
  { head -n1 "$src"; echo "$MARK"; tail -n +2 "$src"; } > "$H/$name"
  chmod +x "$H/$name"
  echo "installed $name"
done
