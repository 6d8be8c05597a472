#!/bin/sh
for shell in bash zsh; do
  rc="$HOME/.${shell}rc"
  [ -f "$rc" ] || continue
  grep -q 'direnv hook' "$rc" && continue
  printf '\n# direnv\neval "$(direnv hook %s)"\n' "$shell" >> "$rc"
  echo "added the direnv hook to $rc"
done
[ -f .envrc ] || printf 'dotenv_if_exists\nPATH_add bin\n' > .envrc
