#!/usr/bin/env bash
set -eu
hook="$(git rev-parse --git-path hooks)/pre-commit"
mark='# installed by pre-commit-hook skill'
case ${1:-install} in
  install)
    if [ -e "$hook" ] && ! grep -qF "$mark" "$hook"; then echo "other hook present: $hook" >&2; exit 1; fi
    mkdir -p "$(dirname "$hook")"
    cat > "$hook" <<'HOOK'
#!/bin/sh
# installed by pre-commit-hook skill
git diff --cached --check || exit 1
git diff --cached --name-only --diff-filter=AM | while read -r f; do
  s=$(git cat-file -s ":$f")
  [ "$s" -le 1048576 ] || { echo "$f is larger than 1 MiB" >&2; exit 1; }
done
HOOK
    chmod +x "$hook"; echo "installed $hook" ;;
  uninstall)
    if [ -e "$hook" ] && grep -qF "$mark" "$hook"; then rm "$hook"; echo removed; fi ;;
esac
