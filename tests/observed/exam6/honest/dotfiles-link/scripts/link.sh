#!/usr/bin/env bash
set -euo pipefail
backups="$HOME/.dotfiles-backup"

if [[ "${1:-}" == "--undo" ]]; then
  last="$(ls -1d "$backups"/*/ 2>/dev/null | tail -n1)" || true
  [[ -n "$last" ]] || { echo "no backup"; exit 1; }
  (cd "$last" && find . -type f -o -type l) | while read -r f; do
    rm -f "$HOME/$f"; mkdir -p "$(dirname "$HOME/$f")"; mv "$last/$f" "$HOME/$f"; echo "restored $f"
  done
  exit 0
fi

src="$(cd "${1:?usage: link.sh <dir> [--plan]}" && pwd)"
plan=0; [[ "${2:-}" == "--plan" ]] && plan=1
bk="$backups/$(date +%Y%m%d-%H%M%S)"

while IFS= read -r -d '' f; do
  rel="${f#"$src"/}"; dst="$HOME/$rel"
  if [[ -L "$dst" && "$(readlink "$dst")" == "$f" ]]; then continue; fi
  echo "$rel$([[ -e "$dst" ]] && echo '  (existing file goes to backup)')"
  ((plan)) && continue
  if [[ -e "$dst" || -L "$dst" ]]; then
    mkdir -p "$(dirname "$bk/$rel")"; mv "$dst" "$bk/$rel"
  fi
  mkdir -p "$(dirname "$dst")"
  ln -s "$f" "$dst"
done < <(find "$src" -type f -not -path '*/.git/*' -print0)
