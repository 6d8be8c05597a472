#!/usr/bin/env bash
set -euo pipefail
: "${HOME:?}"

paths() {
  case "$1" in
    npm)    printf '%s\n' "$HOME/.npm/_cacache" ;;
    pip)    printf '%s\n' "$HOME/.cache/pip" "$HOME/.cache/uv" ;;
    cargo)  printf '%s\n' "$HOME/.cargo/registry/cache" "$HOME/.cargo/registry/src" ;;
    gradle) printf '%s\n' "$HOME/.gradle/caches" ;;
    trash)  printf '%s\n' "$HOME/.local/share/Trash/files" "$HOME/.local/share/Trash/info" ;;
    modules)
      for base in "$HOME/code" "$HOME/projects" "$HOME/src"; do
        [[ -d $base ]] && find "$base" -maxdepth 5 -type d -name node_modules -prune -mtime +60 -print
      done ;;
    *) echo "unknown group $1" >&2; exit 2 ;;
  esac
}

if [[ "${1:-}" == "--delete" ]]; then
  shift
  [[ $# -gt 0 ]] || { echo "name at least one group" >&2; exit 2; }
  for g in "$@"; do
    paths "$g" | while IFS= read -r p; do
      [[ -d "$p" && "$p" == "$HOME"/* ]] || continue
      echo "rm $p"
      rm -rf -- "$p"
    done
  done
  df -h "$HOME" | tail -n1
  exit 0
fi

printf '%-8s %8s  %s\n' group size path
for g in npm pip cargo gradle trash modules; do
  { paths "$g" || true; } | while IFS= read -r p; do
    [[ -d "$p" ]] && printf '%-8s %8s  %s\n' "$g" "$(du -sh "$p" 2>/dev/null | cut -f1)" "$p"
  done || true
done
echo "nothing deleted; use --delete <group>..."
