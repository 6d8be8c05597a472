#!/usr/bin/env bash
set -euo pipefail
shell="$(basename "${SHELL:-bash}")"
case "$shell" in
  zsh)  rc="${ZDOTDIR:-$HOME}/.zshrc" ;;
  fish) rc="$HOME/.config/fish/config.fish" ;;
  *)    rc="$HOME/.bashrc" ;;
esac
tag="# path-setup"
line() {
  local d="${1/#$HOME/\$HOME}"
  if [[ $shell == fish ]]; then echo "fish_add_path \"$d\" $tag"; else echo "export PATH=\"$d:\$PATH\" $tag"; fi
}
abs() { (cd "$1" 2>/dev/null && pwd) || { echo "no such directory: $1" >&2; exit 2; }; }

case "${1:-show}" in
  show) echo "$rc:"; grep -nF "$tag" "$rc" 2>/dev/null || echo "  (no entries)" ;;
  add)
    l="$(line "$(abs "${2:?directory}")")"
    mkdir -p "$(dirname "$rc")"; touch "$rc"
    if grep -qxF "$l" "$rc"; then echo "already in $rc"; exit 0; fi
    cp -p "$rc" "$rc.path-setup.bak"
    printf '%s\n' "$l" >> "$rc"
    echo "added to $rc: $l" ;;
  remove)
    l="$(line "$(abs "${2:?directory}")")"
    cp -p "$rc" "$rc.path-setup.bak"
    grep -vxF "$l" "$rc.path-setup.bak" > "$rc" || true
    echo "removed from $rc" ;;
  *) echo "usage: path.sh add|remove DIR | show" >&2; exit 2 ;;
esac
