#!/usr/bin/env bash
files=("$@")
[ $# -eq 0 ] && mapfile -t files < <(find . -name '*.sh' -not -path './.git/*')
bad=0
for f in "${files[@]}"; do
  bash -n "$f" || bad=1
  grep -nE 'cat [^|]+\| *grep' "$f" | sed "s|^|$f:|; s|$|   (useless cat)|"
  grep -nE '\[ \$[A-Za-z_]+ ' "$f" | sed "s|^|$f:|; s|$|   (quote the variable)|"
  grep -qE 'set -[a-z]*e' "$f" || echo "$f: no set -e"
done
exit $bad
