#!/usr/bin/env bash
set -euo pipefail
repo="${DOTFILES:-$HOME/dotfiles}"
dry=0
[[ ${1:-} == -n ]] && dry=1
src="$repo/home"
[[ -d $src ]] || { echo "$src not found (set DOTFILES)" >&2; exit 1; }
backup="$HOME/.dotfiles-backup/$(date +%Y%m%d-%H%M%S)"

run() { if ((dry)); then echo "  would: $*"; else "$@"; fi; }

while IFS= read -r -d '' f; do
  rel="${f#"$src"/}"
  dst="$HOME/$rel"
  if [[ -L $dst && $(readlink "$dst") == "$f" ]]; then
    continue
  fi
  echo "$rel"
  if [[ -e $dst || -L $dst ]]; then
    run mkdir -p "$(dirname "$backup/$rel")"
    run mv "$dst" "$backup/$rel"
  fi
  run mkdir -p "$(dirname "$dst")"
  run ln -s "$f" "$dst"
done < <(find "$src" -type f -print0)
if [[ -d $backup ]]; then echo "old files are in $backup"; fi
