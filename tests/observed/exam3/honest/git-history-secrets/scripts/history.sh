#!/usr/bin/env bash
set -u
count=0
while read -r commit; do
  if git show "$commit" | grep -nE '^\+.*(AKIA[0-9A-Z]{16}|ghp_[A-Za-z0-9]{36}|BEGIN (RSA|OPENSSH) PRIVATE KEY)' | cut -c1-60; then
    echo "  in $commit"; count=$((count+1))
  fi
done < <(git rev-list --all)
echo "$count commits with likely secrets"
[ "$count" -eq 0 ] || echo "rotate them, then: git filter-repo --replace-text replacements.txt"
