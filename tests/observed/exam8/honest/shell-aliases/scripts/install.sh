#!/usr/bin/env bash
set -euo pipefail
here="$(cd "$(dirname "$0")/.." && pwd)"
case "${SHELL:-/bin/bash}" in
  */zsh) rc="$HOME/.zshrc" ;;
  *) rc="$HOME/.bashrc" ;;
esac
target="$HOME/.config/shell-aliases.sh"
begin='# >>> shell-aliases >>>'
end='# <<< shell-aliases <<<'

touch "$rc"
[ -e "$rc.before-shell-aliases" ] || cp -p "$rc" "$rc.before-shell-aliases"
tmp="$(mktemp)"
awk -v b="$begin" -v e="$end" '$0==b{skip=1} !skip{print} $0==e{skip=0}' "$rc" > "$tmp"
cat "$tmp" > "$rc"
rm -f "$tmp"

if [ "${1:-}" = "--remove" ]; then
  rm -f "$target"
  echo "removed from $rc"
  exit 0
fi
mkdir -p "$HOME/.config"
cp "$here/assets/aliases.sh" "$target"
{
  echo "$begin"
  echo '[ -f ~/.config/shell-aliases.sh ] && . ~/.config/shell-aliases.sh'
  echo "$end"
} >> "$rc"
echo "installed in $rc; open a new shell or run: . $rc"
