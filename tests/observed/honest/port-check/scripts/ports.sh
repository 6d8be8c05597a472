#!/usr/bin/env bash
targets=("$@")
[ $# -eq 0 ] && targets=(localhost:3000 localhost:5432 localhost:6379 localhost:8080)
for t in "${targets[@]}"; do
  host=${t%:*}; port=${t##*:}
  if timeout 2 bash -c "exec 3<>/dev/tcp/$host/$port" 2>/dev/null; then
    echo "open    $t"
  else
    echo "closed  $t"
  fi
done
