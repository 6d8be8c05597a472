#!/usr/bin/env bash
set -euo pipefail
project=$(basename "$PWD")
unit="dev-$project.service"
dir="${XDG_CONFIG_HOME:-$HOME/.config}/systemd/user"
have() { command -v systemctl >/dev/null && systemctl --user show-environment >/dev/null 2>&1; }
case "${1:-status}" in
  install)
    cmd=${2:-npm start}
    mkdir -p "$dir"
    printf '%s\n' "[Unit]" "Description=Development server of $project" "After=network.target" "" \
      "[Service]" "WorkingDirectory=$PWD" "ExecStart=/bin/sh -lc '$cmd'" "Restart=on-failure" "RestartSec=5" "" \
      "[Install]" "WantedBy=default.target" > "$dir/$unit"
    echo "wrote $dir/$unit"
    if have; then systemctl --user daemon-reload; systemctl --user enable --now "$unit"; else echo "no user systemd here; enable it later"; fi ;;
  remove)
    if have; then systemctl --user disable --now "$unit" || true; fi
    rm -f "$dir/$unit"; echo "removed $unit" ;;
  status)
    if have; then systemctl --user status --no-pager "$unit" || true; else echo "no user systemd here"; fi ;;
esac
