ls .git/hooks
