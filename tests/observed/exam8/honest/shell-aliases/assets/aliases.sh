# git
alias gs='git status -sb'
alias gl='git log --oneline --graph --decorate -20'
alias gd='git diff'
alias gds='git diff --staged'
alias gco='git checkout'
alias gpr='git pull --rebase --autostash'
# docker
alias dps='docker ps --format "table {{.Names}}\t{{.Status}}\t{{.Ports}}"'
alias dcl='docker compose logs -f --tail=100'
# general
alias ll='ls -alh'
alias ..='cd ..'
mkcd() { mkdir -p -- "$1" && cd -- "$1" || return; }
