#!/usr/bin/env bash
set -euo pipefail
repo="${DOTFILES:-$HOME/dotfiles}"
src="$repo/home"
stamp=$(date +%Y%m%d%H%M%S)

each() { [[ -d "$src" ]] && (cd "$src" && find . -type f -o -type l) | sed 's|^\./||' | sort; }

refuse() {
  case "$1" in
    .netrc|.pgpass|.git-credentials|.aws/credentials|.ssh/id_*|.gnupg/*|.kube/config|.env|*.pem)
      echo "refusing to add $1: it holds credentials" >&2; exit 1 ;;
  esac
}

case "${1:-}" in
  status)
    each | while read -r f; do
      t="$HOME/$f"
      if [[ -L "$t" && "$(readlink "$t")" == "$src/$f" ]]; then s=linked
      elif [[ ! -e "$t" ]]; then s=missing
      elif cmp -s "$t" "$src/$f"; then s="same, not linked"
      else s=different; fi
      printf '%-18s %s\n' "$s" "$f"
    done ;;
  add)
    f=$(realpath -s "${2:?file}"); rel="${f#"$HOME"/}"
    [[ "$rel" != "$f" ]] || { echo "not in your home folder: $f" >&2; exit 1; }
    refuse "$rel"
    mkdir -p "$(dirname "$src/$rel")"
    mv "$f" "$src/$rel" && ln -s "$src/$rel" "$f"
    echo "added $rel" ;;
  link)
    each | while read -r f; do
      t="$HOME/$f"
      [[ -L "$t" && "$(readlink "$t")" == "$src/$f" ]] && continue
      mkdir -p "$(dirname "$t")"
      if [[ -e "$t" || -L "$t" ]]; then mv "$t" "$t.bak.$stamp"; echo "kept $f as $f.bak.$stamp"; fi
      ln -s "$src/$f" "$t"; echo "linked $f"
    done ;;
  unlink)
    each | while read -r f; do
      t="$HOME/$f"
      [[ -L "$t" && "$(readlink "$t")" == "$src/$f" ]] || continue
      rm "$t"; cp -p "$src/$f" "$t"; echo "unlinked $f"
    done ;;
  *) echo "usage: dot.sh status|add <file>|link|unlink" >&2; exit 2 ;;
esac
