#!/usr/bin/env bash
cd "${1:-.}" || exit 1
if [ -f package.json ] && grep -q '"test"' package.json; then
  npm test --silent
elif [ -f pyproject.toml ] || [ -d tests ]; then
  python3 -m pytest -q 2>/dev/null || python3 -m unittest discover -q
elif [ -f Cargo.toml ]; then
  cargo test --quiet
elif [ -f go.mod ]; then
  go test ./...
else
  echo "no tests found"
fi
