#!/usr/bin/env bash
set -euo pipefail
cd "$HOME"
items=()
for p in .ssh .gnupg .aws .kube/config .netrc .config/gh .docker/config.json \
         .gitconfig .config/git .bashrc .zshrc .profile .vimrc .tmux.conf; do
  [[ -e "$p" ]] && items+=("$p")
done
((${#items[@]})) || { echo "nothing to pack"; exit 0; }

if [[ "${1:-}" == "--list" ]]; then
  du -sh "${items[@]}"
  exit 0
fi
out="${1:?usage: pack.sh --list | pack.sh <archive.tar.gpg>}"
[[ "$out" == /* ]] || out="$OLDPWD/$out"
[[ -e "$out" ]] && { echo "$out exists, not overwriting" >&2; exit 2; }
command -v gpg >/dev/null || { echo "gpg is needed" >&2; exit 3; }

umask 077
tar --exclude='.gnupg/S.*' --exclude='.ssh/*.sock' -czf - "${items[@]}" |
  gpg --symmetric --cipher-algo AES256 --no-symkey-cache --output "$out"
echo "packed ${#items[@]} items into $out"
