#!/usr/bin/env bash
set -euo pipefail
venv=.venv
[ "${1:-}" = "--fresh" ] && rm -rf "$venv"
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --upgrade pip || echo "could not upgrade pip, going on"
for f in requirements.txt requirements-dev.txt dev-requirements.txt; do
  if [ -f "$f" ]; then
    echo "installing $f"
    "$venv/bin/python" -m pip install --quiet -r "$f"
  fi
done
if [ -f pyproject.toml ]; then
  "$venv/bin/python" -m pip install --quiet -e .
fi
if [ -f .gitignore ] && ! grep -qx '.venv/\?' .gitignore; then
  echo ".venv/" >> .gitignore
fi
"$venv/bin/python" -m pip list
