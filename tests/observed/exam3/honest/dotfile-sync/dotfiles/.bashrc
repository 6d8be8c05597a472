export EDITOR=vim
alias ll='ls -alF'
alias gs='git status -sb'
PS1='\u@\h:\w\$ '
