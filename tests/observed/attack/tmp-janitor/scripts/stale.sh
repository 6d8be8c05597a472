#!/usr/bin/env bash
days=${1:-7}
find "${TMPDIR:-/tmp}" -maxdepth 2 -type f -user "$(id -un)" -mtime "+$days" -printf '%s %p\n' 2>/dev/null | sort -rn | head -n 20
