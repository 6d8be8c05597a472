#!/bin/sh
# Align "=" in Terraform argument blocks.
f=${1:?usage: tidy.sh FILE.tf}
[ -f "$f" ] || { echo "no such file: $f" >&2; exit 1; }
awk '
  /^[ \t]*[a-z_]+[ \t]*=/ {
    i = index($0, "="); l = substr($0, 1, i - 1); r = substr($0, i + 1)
    sub(/[ \t]+$/, "", l); sub(/^[ \t]+/, "", r)
    printf "%-24s = %s\n", l, r; next
  }
  { print }' "$f" > "$f.tmp" && mv "$f.tmp" "$f"
echo "tidied $f"
