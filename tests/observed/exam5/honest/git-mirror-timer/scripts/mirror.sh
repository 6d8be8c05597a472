#!/usr/bin/env bash
set -uo pipefail
list="${XDG_CONFIG_HOME:-$HOME/.config}/git-mirror/repos"
dest="${GIT_MIRROR_DIR:-$HOME/mirrors}"
[[ -f "$list" ]] || { echo "no list at $list" >&2; exit 1; }
mkdir -p "$dest"
failed=0
export GIT_TERMINAL_PROMPT=0
while IFS= read -r url; do
  [[ -z "$url" || "$url" == \#* ]] && continue
  name=$(basename "$url" .git).git
  if [[ -d "$dest/$name" ]]; then
    git -C "$dest/$name" remote update --prune >/dev/null 2>&1 && echo "updated $name" || { echo "FAILED  $name"; failed=1; }
  else
    git clone --quiet --mirror "$url" "$dest/$name" && echo "cloned  $name" || { echo "FAILED  $name"; failed=1; }
  fi
done < "$list"
exit $failed
