#!/usr/bin/env bash
set -uo pipefail
log=build.log
: > "$log"
step() {
  echo "+ $*" | tee -a "$log"
  "$@" >> "$log" 2>&1
}
start=$(date +%s)
if [ -f package.json ] && grep -q '"build"' package.json; then
  step npm run build
elif [ -f Cargo.toml ]; then
  step cargo build --release
elif [ -f go.mod ]; then
  step go build ./...
elif [ -f Makefile ]; then
  step make
elif [ -f pyproject.toml ] || [ -f setup.py ]; then
  step python3 -m compileall -q .
else
  echo "no known build system in $(pwd)"; exit 2
fi
rc=$?
echo "exit $rc after $(( $(date +%s) - start ))s"
[ $rc -eq 0 ] || tail -n 20 "$log"
exit $rc
