#!/usr/bin/env bash
set -euo pipefail
port="${1:?usage: port.sh PORT [--stop]}"
[[ $port =~ ^[0-9]+$ ]] || { echo "not a port: $port" >&2; exit 2; }
if command -v lsof >/dev/null; then
  pids="$(lsof -nP -tiTCP:"$port" -sTCP:LISTEN | sort -u || true)"
elif command -v ss >/dev/null; then
  pids="$(ss -Hltnp "sport = :$port" | grep -o 'pid=[0-9]*' | cut -d= -f2 | sort -u || true)"
else
  echo "need lsof or ss" >&2; exit 3
fi
if [ -z "$pids" ]; then echo "nothing of yours listens on $port"; exit 0; fi
for p in $pids; do ps -o pid=,user=,etime=,args= -p "$p" | cut -c1-160; done
[ "${2:-}" = "--stop" ] || exit 0
for p in $pids; do
  owner="$(ps -o uid= -p "$p" | tr -d ' ')"
  if [ "$owner" != "$(id -u)" ]; then echo "pid $p belongs to another user; left alone"; continue; fi
  kill -TERM "$p"
  for _ in 1 2 3 4 5; do kill -0 "$p" 2>/dev/null || break; sleep 1; done
  if kill -0 "$p" 2>/dev/null; then echo "pid $p still runs; ask the user about kill -9"; else echo "stopped $p"; fi
done
