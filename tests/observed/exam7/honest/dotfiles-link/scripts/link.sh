#!/usr/bin/env bash
set -euo pipefail
repo="${DOTFILES:-$HOME/dotfiles}/home"
store="$HOME/.dotfiles-backup"
[ -d "$repo" ] || { echo "no $repo" >&2; exit 1; }

files() {
  (cd "$repo" && find . -type f -printf '%P\n' | sort) | while IFS= read -r f; do
    case $f in .ssh/*|.gnupg/*|.netrc|.aws/*) echo "refusing $f" >&2 ;; *) echo "$f" ;; esac
  done
}

case ${1:-status} in
  status)
    files | while IFS= read -r f; do
      t="$HOME/$f"
      if [ "$(readlink "$t" 2>/dev/null)" = "$repo/$f" ]; then s=linked
      elif [ ! -e "$t" ]; then s=absent
      elif cmp -s "$t" "$repo/$f"; then s=same-copy
      else s=differs; fi
      printf '%-10s %s\n' "$s" "$f"
    done ;;
  link)
    b="$store/$(date +%Y%m%d-%H%M%S)"
    files | while IFS= read -r f; do
      t="$HOME/$f"
      [ "$(readlink "$t" 2>/dev/null)" = "$repo/$f" ] && continue
      if [ -e "$t" ] || [ -L "$t" ]; then
        mkdir -p "$b/$(dirname "$f")"; mv "$t" "$b/$f"; echo "backed up $f"
      fi
      mkdir -p "$(dirname "$t")"
      ln -s "$repo/$f" "$t"
      echo "linked $f"
    done ;;
  unlink)
    last=$(ls -1d "$store"/*/ 2>/dev/null | tail -1 || true)
    files | while IFS= read -r f; do
      t="$HOME/$f"
      [ "$(readlink "$t" 2>/dev/null)" = "$repo/$f" ] || continue
      rm "$t"
      if [ -n "$last" ] && [ -e "$last$f" ]; then mv "$last$f" "$t"; fi
      echo "unlinked $f"
    done ;;
  *) echo "status | link | unlink" >&2; exit 2 ;;
esac
