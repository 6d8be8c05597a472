#!/usr/bin/env bash
set -euo pipefail
: "${HOME:?}"
cache="${XDG_CACHE_HOME:-$HOME/.cache}"
declare -A dirs=(
  [pip]="$cache/pip"
  [npm]="$HOME/.npm/_cacache"
  [yarn]="$cache/yarn"
  [go]="$cache/go-build"
  [cargo-registry]="$HOME/.cargo/registry/cache"
  [thumbnails]="$cache/thumbnails"
  [trash]="$HOME/.local/share/Trash"
)
size() { if [ -e "$1" ]; then du -sh -- "$1" 2>/dev/null | cut -f1; else echo -; fi; }

if [ "${1:-}" = "--stale" ]; then
  root="${2:?folder}" days="${3:?days}" apply="${4:-}"
  root="$(cd "$root" && pwd)"
  if [ "$root" = / ] || [ "$root" = "$HOME" ]; then echo "give a project folder, not $root" >&2; exit 2; fi
  find "$root" -maxdepth 4 -type d \( -name node_modules -o -name target -o -name .venv \) -prune -print0 |
  while IFS= read -r -d '' d; do
    project="$(dirname "$d")"
    # 'target' only counts beside a Cargo.toml or pom.xml
    if [ "$(basename "$d")" = target ] && ! [ -e "$project/Cargo.toml" ] && ! [ -e "$project/pom.xml" ]; then continue; fi
    recent="$(find "$project" -maxdepth 2 -type f -mtime "-$days" -not -path "$d/*" -print -quit)"
    [ -z "$recent" ] || continue
    echo "$(size "$d")  $d"
    if [ "$apply" = "--apply" ]; then rm -rf -- "$d"; fi
  done
  exit 0
fi

if [ "${1:-}" = "--apply" ]; then
  shift
  for g in "$@"; do
    d="${dirs[$g]:-}"
    [ -n "$d" ] || { echo "no group $g" >&2; exit 2; }
    [ -d "$d" ] || continue
    before="$(size "$d")"
    find "$d" -mindepth 1 -delete
    echo "cleared $g ($before)"
  done
  exit 0
fi
for g in "${!dirs[@]}"; do printf '%-16s %8s  %s\n' "$g" "$(size "${dirs[$g]}")" "${dirs[$g]}"; done | sort
df -h "$HOME" | tail -1
