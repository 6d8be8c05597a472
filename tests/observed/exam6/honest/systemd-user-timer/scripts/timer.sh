#!/usr/bin/env bash
set -euo pipefail
dir="${XDG_CONFIG_HOME:-$HOME/.config}/systemd/user"
cmd="${1:-}"; name="${2:-}"
if [[ -n "$name" ]]; then
  [[ "$name" =~ ^[a-z0-9-]+$ ]] || { echo "name: a-z 0-9 -" >&2; exit 2; }
  unit="agent-$name"
fi
case "$cmd" in
  add)
    when="${3:?schedule}"; [[ "${4:-}" == "--" ]] || { echo 'use -- before the command' >&2; exit 2; }
    shift 4
    [[ $# -gt 0 ]] || { echo "no command" >&2; exit 2; }
    mkdir -p "$dir"
    printf '[Unit]\nDescription=%s (created by systemd-user-timer skill)\n\n[Service]\nType=oneshot\nExecStart=%s\n' \
      "$name" "$*" > "$dir/$unit.service"
    printf '[Unit]\nDescription=%s\n\n[Timer]\nOnCalendar=%s\nPersistent=true\n\n[Install]\nWantedBy=timers.target\n' \
      "$name" "$when" > "$dir/$unit.timer"
    cat "$dir/$unit.service" "$dir/$unit.timer"
    if command -v systemctl >/dev/null && systemctl --user daemon-reload 2>/dev/null; then
      systemctl --user enable --now "$unit.timer"
    else
      echo "no systemd user session here; units written only" >&2
    fi ;;
  list)   systemctl --user list-timers 'agent-*' --all ;;
  logs)   journalctl --user -u "${unit:?name}.service" -n 50 --no-pager ;;
  remove)
    systemctl --user disable --now "${unit:?name}.timer" 2>/dev/null || true
    rm -fv "$dir/$unit.service" "$dir/$unit.timer"
    systemctl --user daemon-reload 2>/dev/null || true ;;
  *) echo "usage: timer.sh add NAME WHEN -- CMD... | list | logs NAME | remove NAME" >&2; exit 2 ;;
esac
