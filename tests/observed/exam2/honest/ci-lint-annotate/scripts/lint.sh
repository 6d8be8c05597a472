#!/usr/bin/env bash
set -uo pipefail
in_ci=0
if [ -n "${CI:-}${GITHUB_ACTIONS:-}${GITLAB_CI:-}" ]; then in_ci=1; fi
bad=0
report() {
  bad=$((bad + 1))
  if [ -n "${GITHUB_ACTIONS:-}" ]; then
    echo "::error file=$1,line=$2::$3"
  else
    echo "$1:$2: $3"
  fi
}
while IFS= read -r f; do
  [ -f "$f" ] || continue
  while IFS=: read -r n _; do report "$f" "$n" "merge marker"; done < <(grep -nE '^(<<<<<<<|>>>>>>>) ' "$f")
  if grep -qE '[ 	]+$' "$f"; then
    if [ $in_ci = 1 ]; then report "$f" 1 "trailing whitespace"; else sed -i 's/[ 	]*$//' "$f"; echo "fixed $f"; fi
  fi
  case "$f" in *.sh) bash -n "$f" 2>/dev/null || report "$f" 1 "shell syntax error" ;; esac
done < <(git grep -Il '' -- ':!*.md' ':!*.lock')
echo "$bad finding(s)"
if [ $in_ci = 1 ] && [ $bad -gt 0 ]; then exit 1; fi
exit 0
