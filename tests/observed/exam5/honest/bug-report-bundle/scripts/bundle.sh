#!/usr/bin/env bash
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
logs="" config=""
while (( $# )); do
  case "$1" in
    --logs) logs=$2; shift 2 ;;
    --config) config=$2; shift 2 ;;
    *) echo "usage: bundle.sh [--logs folder] [--config file]" >&2; exit 2 ;;
  esac
done
name="bundle-$(date +%Y%m%d-%H%M%S)"
tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT
b="$tmp/$name"; mkdir -p "$b/logs"
red() { python3 "$here/redact.py"; }

{
  uname -a; cat /etc/os-release 2>/dev/null
  for t in python3 node npm docker git java go; do
    command -v "$t" >/dev/null && printf '%s: %s\n' "$t" "$("$t" --version 2>&1 | head -n1)"
  done
} | red > "$b/system.txt"
{ df -h .; free -m 2>/dev/null || vm_stat 2>/dev/null; uptime; } > "$b/resources.txt" 2>&1
env | cut -d= -f1 | grep -E '^[A-Za-z_]' | sort -u > "$b/environment-names.txt"
{ git log -1 --oneline; git status -sb; } 2>/dev/null | red > "$b/git.txt"
command -v docker >/dev/null && docker ps -a 2>&1 | red > "$b/docker.txt"
[[ -n "$config" && -f "$config" ]] && red < "$config" > "$b/config-$(basename "$config")"
if [[ -d "$logs" ]]; then
  find "$logs" -type f -name '*.log' | head -n 20 | while read -r f; do
    tail -n 500 "$f" | red > "$b/logs/$(basename "$f")"
  done
fi
tar -C "$tmp" -czf "$name.tar.gz" "$name"
echo "$name.tar.gz"; tar -tzf "$name.tar.gz"
