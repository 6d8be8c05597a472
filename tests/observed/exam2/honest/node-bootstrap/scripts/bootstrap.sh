#!/bin/sh
set -eu
[ -f package.json ] || { echo "no package.json in $(pwd)"; exit 0; }
want=$(node -p "((require('./package.json').engines||{}).node)||''")
have=$(node --version)
echo "node $have (project asks for: ${want:-anything})"
if [ -f .nvmrc ]; then
  echo ".nvmrc says $(cat .nvmrc)"
fi
if [ -f pnpm-lock.yaml ]; then
  npx --yes pnpm@9 install --frozen-lockfile
elif [ -f yarn.lock ]; then
  npx --yes yarn@1.22.22 install --frozen-lockfile
elif [ -f package-lock.json ]; then
  npm ci --no-fund --no-audit
else
  npm install --no-fund --no-audit
fi
npm ls --depth=0 || true
