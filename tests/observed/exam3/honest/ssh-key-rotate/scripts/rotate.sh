#!/usr/bin/env bash
set -eu
key="$HOME/.ssh/id_ed25519"
new="$key.new"
rm -f "$new" "$new.pub"
ssh-keygen -q -t ed25519 -N '' -C "$USER@$(hostname)" -f "$new"
curl -sf https://api.github.com/user/keys -H "Authorization: Bearer ${GITHUB_TOKEN:?}" \
  -d "{\"title\":\"$(hostname) $(date +%F)\",\"key\":\"$(cat "$new.pub")\"}" >/dev/null
[ -f "$key" ] && mv "$key" "$key.old-$(date +%F)"
mv "$new" "$key"; mv "$new.pub" "$key.pub"
chmod 600 "$key"
echo "new key in place; test with: ssh -T git@github.com"
