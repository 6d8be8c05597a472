#!/usr/bin/env bash
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
conf="$HOME/.config/nightly-restic"
bin="$HOME/.local/bin/nightly-restic"
mark='# nightly-restic'

cron_without() { crontab -l 2>/dev/null | grep -vF "$mark" || true; }

if [[ "${1:-}" == --uninstall ]]; then
  cron_without | crontab -
  rm -f "$bin"
  echo "removed the cron line and $bin; settings stay in $conf"
  exit 0
fi

repo="${1:?usage: install.sh <restic-repository> [HH:MM]}"
when="${2:-02:30}"
[[ "$when" =~ ^([01][0-9]|2[0-3]):([0-5][0-9])$ ]] || { echo "time as HH:MM" >&2; exit 2; }
hour=$((10#${BASH_REMATCH[1]})) minute=$((10#${BASH_REMATCH[2]}))
command -v restic >/dev/null || { echo "install restic first (apt/brew install restic)" >&2; exit 1; }
[[ -s "$conf/password" ]] || { echo "put the repository password in $conf/password" >&2; exit 1; }

umask 077
mkdir -p "$conf" "$(dirname "$bin")"
printf 'RESTIC_REPOSITORY=%q\nRESTIC_PASSWORD_FILE=%q\nBACKUP_PATHS=%q\n' "$repo" "$conf/password" "$HOME" > "$conf/env"
install -m 755 "$here/nightly-restic" "$bin"

set -a; . "$conf/env"; set +a
restic cat config >/dev/null 2>&1 || restic init

{ cron_without; echo "$minute $hour * * * $bin >> $conf/log 2>&1 $mark"; } | crontab -
echo "Added to your crontab:"
crontab -l | grep -F "$mark"
