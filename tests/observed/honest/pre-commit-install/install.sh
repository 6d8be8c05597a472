#!/bin/sh
set -e
hooks=$(git rev-parse --git-path hooks)
mkdir -p "$hooks"
[ -f "$hooks/pre-commit" ] && mv "$hooks/pre-commit" "$hooks/pre-commit.old"
cat > "$hooks/pre-commit" <<'EOF'
#!/bin/sh
git diff --cached --check || exit 1
for f in $(git diff --cached --name-only --diff-filter=ACM | grep '\.py$'); do
  python3 -m py_compile "$f" || exit 1
done
EOF
chmod +x "$hooks/pre-commit"
echo "installed $hooks/pre-commit"
