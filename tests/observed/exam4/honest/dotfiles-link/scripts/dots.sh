#!/usr/bin/env bash
set -euo pipefail
ROOT="${DOTFILES:-$HOME/dotfiles}"

each() { # each CALLBACK: for every file of every package
  local pkg f
  for pkg in "$ROOT"/*/; do
    case "$pkg" in */scripts/) continue ;; esac
    while IFS= read -r f; do "$1" "$pkg${f#./}" "$HOME/${f#./}"; done < <(cd "$pkg" && find . -type f)
  done
}

plan() {
  if [ "$(readlink "$2" 2>/dev/null)" = "$1" ]; then echo "ok     $2"
  elif [ -e "$2" ]; then echo "backup $2"
  else echo "link   $2"; fi
}

link() {
  [ "$(readlink "$2" 2>/dev/null)" = "$1" ] && return 0
  mkdir -p "$(dirname "$2")"
  [ -e "$2" ] && mv "$2" "$2.before-dots"
  ln -s "$1" "$2"
  echo "linked $2"
}

unlink_one() {
  [ "$(readlink "$2" 2>/dev/null)" = "$1" ] || return 0
  rm "$2"
  [ -e "$2.before-dots" ] && mv "$2.before-dots" "$2"
  echo "unlinked $2"
}

offer_bashrc() {
  local line='for f in ~/.bashrc.d/*.sh; do [ -r "$f" ] && . "$f"; done'
  grep -qF "$line" "$HOME/.bashrc" 2>/dev/null && return
  read -r -p "Add the loader line to ~/.bashrc? [y/N] " yn
  [ "$yn" = y ] && printf '%s\n' "$line" >> "$HOME/.bashrc"
  return 0
}

case "${1:-}" in
  plan) each plan ;;
  link) each link; offer_bashrc ;;
  unlink) each unlink_one ;;
  *) echo "usage: dots.sh plan|link|unlink"; exit 2 ;;
esac
