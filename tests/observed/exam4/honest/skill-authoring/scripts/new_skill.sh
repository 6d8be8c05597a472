#!/usr/bin/env bash
# new_skill.sh NAME [PARENT] - make a skeleton
set -euo pipefail
NAME="${1:?name in lower case with hyphens}"
PARENT="${2:-.}"
[[ "$NAME" =~ ^[a-z0-9]+(-[a-z0-9]+)*$ ]] || { echo "bad name: $NAME" >&2; exit 2; }
D="$PARENT/$NAME"
[ -e "$D" ] && { echo "$D exists" >&2; exit 1; }
mkdir -p "$D/scripts" "$D/references"
cat > "$D/SKILL.md" <<MD
---
name: $NAME
description: TODO what it does. Use when the user TODO.
---

# ${NAME//-/ }

## Result

TODO

## Steps

1. TODO

## Ask the user when

- TODO
MD
echo "made $D"
