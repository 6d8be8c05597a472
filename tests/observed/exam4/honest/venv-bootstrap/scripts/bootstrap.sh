#!/usr/bin/env bash
set -euo pipefail
PY="${PYTHON:-python3}"
[ "${1:-}" = "--fresh" ] && { [ -f .venv/pyvenv.cfg ] && rm -rf .venv; }

for v in PIP_EXTRA_INDEX_URL UV_EXTRA_INDEX_URL; do
  [ -n "${!v:-}" ] && echo "warning: $v is set; the public index can win over the private one" >&2
done

if [ -f uv.lock ] && command -v uv >/dev/null; then
  uv sync --frozen
elif [ -f poetry.lock ] && command -v poetry >/dev/null; then
  POETRY_VIRTUALENVS_IN_PROJECT=1 poetry install --no-interaction
else
  [ -d .venv ] || "$PY" -m venv .venv
  .venv/bin/python -m pip install -q --upgrade pip
  if [ -f requirements.txt ]; then
    if grep -q -- '--hash=' requirements.txt; then
      .venv/bin/pip install --require-hashes -r requirements.txt
    else
      .venv/bin/pip install -r requirements.txt
    fi
  elif [ -f pyproject.toml ]; then
    .venv/bin/pip install -e '.[dev]' || .venv/bin/pip install -e .
  else
    echo "no requirements here" >&2
  fi
fi
.venv/bin/python -m pip check || true
.venv/bin/python -c 'import sys; print("python", sys.version.split()[0], sys.prefix)'
