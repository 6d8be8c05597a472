#!/bin/sh
# bridge.sh PROMPT
prompt=${*:-describe this project}
printf "codex exec '%s'\n" "$(printf '%s' "$prompt" | sed "s/'/'\\\\''/g")"
