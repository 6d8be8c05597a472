#!/usr/bin/env bash
set -euo pipefail
rc="$HOME/.bashrc"
begin='# >>> backend-team >>>'
end='# <<< backend-team <<<'

touch "$rc"
tmp=$(mktemp)
trap 'rm -f "$tmp"' EXIT
sed "/^$begin\$/,/^$end\$/d" "$rc" > "$tmp"

if [[ ${1:-} != --undo ]]; then
  cat >> "$tmp" <<BLOCK
$begin
HISTSIZE=50000
HISTFILESIZE=100000
HISTCONTROL=ignoreboth
shopt -s histappend
alias ll='ls -alF'
__branch() { git symbolic-ref --short HEAD 2>/dev/null | sed 's/.*/ (&)/'; }
PS1='\u@\h:\w\$(__branch)\\$ '
$end
BLOCK
fi
cat "$tmp" > "$rc"
echo "$rc updated"
