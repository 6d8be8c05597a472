#!/usr/bin/env bash
set -uo pipefail
missing=() status=0

if [[ "${1:-}" == --changed ]]; then
  base=$(git merge-base HEAD "$(git rev-parse --verify -q origin/main || git rev-parse --verify -q main || echo HEAD~1)")
  mapfile -t files < <(git diff --name-only --diff-filter=AM "$base")
else
  mapfile -t files < <(git ls-files)
fi

pick() { local rx=$1 f; for f in "${files[@]}"; do [[ "$f" =~ $rx && -f "$f" ]] && printf '%s\n' "$f"; done; }

run() {
  local tool=$1 rx=$2; shift 2
  mapfile -t sel < <(pick "$rx")
  (( ${#sel[@]} )) || return 0
  if ! command -v "$tool" >/dev/null; then missing+=("$tool (${#sel[@]} files)"); return 0; fi
  echo "== $tool: ${#sel[@]} file(s)"
  "$tool" "$@" "${sel[@]}" || status=1
}

if command -v ruff >/dev/null; then run ruff '\.py$' check; else run flake8 '\.py$'; fi
run shellcheck '\.(sh|bash)$' -S warning
run yamllint '\.ya?ml$' -s
run hadolint '(^|/)Dockerfile'
if [[ -x node_modules/.bin/eslint ]]; then
  PATH="$PWD/node_modules/.bin:$PATH" run eslint '\.(js|jsx|ts|tsx|mjs)$'
else
  [[ -n $(pick '\.(js|jsx|ts|tsx)$' | head -n1) ]] && missing+=("eslint (not in node_modules)")
fi
[[ -f go.mod ]] && { command -v go >/dev/null && { echo "== go vet"; go vet ./... || status=1; } || missing+=(go); }

(( ${#missing[@]} )) && printf 'not installed: %s\n' "${missing[@]}"
exit $status
