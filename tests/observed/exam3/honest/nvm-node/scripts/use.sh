#!/usr/bin/env bash
export NVM_DIR="$HOME/.nvm"
[ -s "$NVM_DIR/nvm.sh" ] && . "$NVM_DIR/nvm.sh"
want=$(cat .nvmrc 2>/dev/null || echo lts/*)
if command -v nvm >/dev/null; then nvm install "$want" && nvm use "$want"; else echo "open a new shell, then: nvm install $want"; fi
node --version
