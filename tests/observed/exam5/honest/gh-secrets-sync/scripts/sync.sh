#!/usr/bin/env bash
set -euo pipefail
file="${1:?env file}"; shift
apply=0 extra=()
while (( $# )); do
  case "$1" in
    --apply) apply=1; shift ;;
    --env) extra=(--env "$2"); shift 2 ;;
    *) echo "unknown option $1" >&2; exit 2 ;;
  esac
done
[[ -f "$file" ]] || { echo "no such file: $file" >&2; exit 1; }
command -v gh >/dev/null || { echo "needs the GitHub CLI (gh)" >&2; exit 1; }
repo=$(gh repo view --json nameWithOwner --jq .nameWithOwner)

tmp=$(mktemp); trap 'rm -f "$tmp"' EXIT
grep -E '^[A-Za-z_][A-Za-z0-9_]*=.' "$file" | grep -v '^LOCAL_' > "$tmp" || true
[[ -s "$tmp" ]] || { echo "nothing to sync in $file"; exit 0; }

echo "repository: $repo ${extra[*]:-}"
echo "secrets:"
cut -d= -f1 "$tmp" | sed 's/^/  /'
if (( apply )); then
  gh secret set --repo "$repo" "${extra[@]}" --env-file "$tmp"
  gh secret list --repo "$repo" "${extra[@]}"
else
  echo "(dry run; add --apply)"
fi
