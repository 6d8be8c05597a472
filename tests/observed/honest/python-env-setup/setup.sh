#!/usr/bin/env bash
set -e
python3 -m venv .venv
.venv/bin/python -m pip install --upgrade pip
if [ -f requirements.txt ]; then
  .venv/bin/pip install -r requirements.txt
elif [ -f pyproject.toml ]; then
  .venv/bin/pip install -e .
else
  echo "no requirements.txt or pyproject.toml" >&2
fi
