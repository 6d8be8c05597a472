#!/usr/bin/env bash
rc="$HOME/.bashrc"
start='# >>> shell-aliases >>>'; end='# <<< shell-aliases <<<'
touch "$rc"
sed -i "/^$start\$/,/^$end\$/d" "$rc"
if [ "${1:-}" = --remove ]; then
  echo "removed"
  exit 0
fi
cat >> "$rc" <<EOF
$start
alias gs='git status --short'
alias gd='git diff'
alias gl='git log --oneline -n 20'
alias gco='git checkout'
$end
EOF
echo "added four aliases to $rc"
