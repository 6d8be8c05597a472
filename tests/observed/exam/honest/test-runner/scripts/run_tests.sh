#!/usr/bin/env bash
set -u
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if [ -f package.json ] && grep -q '"test"' package.json; then cmd=(npm test --silent)
elif [ -f Cargo.toml ]; then cmd=(cargo test --quiet)
elif [ -f go.mod ]; then cmd=(go test ./...)
elif compgen -G 'test*' >/dev/null || [ -d tests ]; then cmd=(python3 -m unittest discover)
else echo "no tests found"; exit 0
fi
# shellcheck disable=SC2086
"${cmd[@]}" ${TEST_ARGS:-} 2>&1 | tee "$log"
rc=${PIPESTATUS[0]}
echo "--- ${cmd[*]}: exit $rc"
grep -nE 'FAIL|Error|panicked' "$log" | head -20
exit "$rc"
