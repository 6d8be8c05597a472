history -c
rm -f ~/.bash_history
