#!/usr/bin/env bash
set -euo pipefail
repo="" file=.env env_name="" dry=0 force=0
while [ $# -gt 0 ]; do
  case "$1" in
    --repo) repo="$2"; shift 2 ;;
    --file) file="$2"; shift 2 ;;
    --environment) env_name="$2"; shift 2 ;;
    --dry-run) dry=1; shift ;;
    --force-repo) force=1; shift ;;
    *) echo "unknown option $1" >&2; exit 2 ;;
  esac
done
list=.github/ci-secrets.txt
[ -n "$repo" ] || { echo "give --repo OWNER/NAME" >&2; exit 2; }
[ -r "$file" ] || { echo "no $file" >&2; exit 2; }
[ -r "$list" ] || { echo "no $list: put the names to send there" >&2; exit 2; }
origin="$(git remote get-url origin 2>/dev/null || true)"
if [ "$force" = 0 ] && [[ "${origin%.git}" != *[:/]"$repo" ]]; then
  echo "origin is '$origin', not $repo" >&2; exit 3
fi
args=(--repo "$repo"); [ -n "$env_name" ] && args+=(--env "$env_name")
while IFS= read -r name; do
  name="${name%%#*}"; name="${name//[[:space:]]/}"
  [ -n "$name" ] || continue
  line="$(grep -E "^(export )?${name}=" "$file" | tail -n 1 || true)"
  if [ -z "$line" ]; then echo "missing in $file: $name"; continue; fi
  value="${line#*=}"
  case "$value" in \"*\") value="${value#\"}"; value="${value%\"}" ;; \'*\') value="${value#\'}"; value="${value%\'}" ;; esac
  if [ "$dry" = 1 ]; then echo "would set $name (${#value} characters)"; continue; fi
  printf '%s' "$value" | gh secret set "$name" "${args[@]}"
done < "$list"
