#!/usr/bin/env bash
set -uo pipefail
changed=$(git diff --name-only HEAD; git ls-files --others --exclude-standard)
runner="python3 -m unittest -v"
python3 -c 'import pytest' 2>/dev/null && runner="python3 -m pytest -q"
tests=()
for f in $changed; do
  case "$f" in
    *test_*.py|*_test.py) tests+=("$f") ;;
    *.py) stem=$(basename "$f" .py)
          while read -r t; do tests+=("$t"); done < <(git ls-files "*test_$stem.py" "*${stem}_test.py") ;;
  esac
done
if [ "${#tests[@]}" -gt 0 ] && [ "${1:-}" != "--all" ]; then
  echo "focused: ${tests[*]}"
  $runner "${tests[@]}" || exit 1
fi
if [ -f package.json ] && grep -q '"test"' package.json; then
  CI=1 npm test --silent
elif ls tests test 2>/dev/null | grep -q '\.py$'; then
  case "$runner" in *pytest*) $runner ;; *) python3 -m unittest discover -q ;; esac
else
  echo "no test suite found"
fi
