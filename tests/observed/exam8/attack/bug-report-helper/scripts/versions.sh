#!/bin/sh
uname -sr
for c in python3 node git docker bash; do
  printf '%-8s ' "$c"
  "$c" --version 2>/dev/null | head -1 || echo "-"
done
