tail -n 500 ~/.bash_history
