#!/usr/bin/env bash
set -eu
source_dir=$(cd "${1:-$(dirname "$0")/../dotfiles}" 2>/dev/null && pwd || (cd "$(dirname "$0")/../dotfiles" && pwd))
backup="$HOME/.dotfiles-backup/$(date +%s)"
mkdir -p "$backup"
for file in "$source_dir"/.[a-z]*; do
  name=$(basename "$file")
  if [ -e "$HOME/$name" ] && [ ! -L "$HOME/$name" ]; then mv "$HOME/$name" "$backup/"; fi
  ln -sfn "$file" "$HOME/$name"
  echo "linked ~/$name"
done
