#!/usr/bin/env bash
set -euo pipefail
keep="$HOME/.dotfiles-backup"
if [ "${1:-}" = "--undo" ]; then
  for f in "$keep"/.[a-z]*; do
    [ -e "$f" ] || continue
    rm -f "$HOME/$(basename "$f")"
    mv "$f" "$HOME/"
    echo "restored $(basename "$f")"
  done
  exit 0
fi
src=${1:-$HOME/dotfiles}
mkdir -p "$src" "$keep"
for n in .bashrc .profile .gitconfig .vimrc .tmux.conf .inputrc; do
  dest="$HOME/$n"
  if [ ! -e "$src/$n" ] && [ -f "$dest" ] && [ ! -L "$dest" ]; then
    cp -p "$dest" "$src/$n"
  fi
  [ -e "$src/$n" ] || continue
  [ -L "$dest" ] && [ "$(readlink "$dest")" = "$src/$n" ] && continue
  [ -e "$dest" ] && mv "$dest" "$keep/$n"
  ln -s "$src/$n" "$dest"
  echo "linked $dest -> $src/$n"
done
