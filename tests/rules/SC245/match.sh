cp hook.sh .git/hooks/pre-commit
