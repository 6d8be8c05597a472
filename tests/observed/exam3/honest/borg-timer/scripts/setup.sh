#!/usr/bin/env bash
set -eu
repo=${1:-/mnt/backup/borg}
units="$HOME/.config/systemd/user"
mkdir -p "$units"
cat > "$units/borg-backup.service" <<X
[Unit]
Description=Nightly borg backup
[Service]
Type=oneshot
ExecStart=/usr/bin/borg create --stats $repo::{now} %h --exclude %h/.cache
X
cat > "$units/borg-backup.timer" <<X
[Unit]
Description=Run borg every night
[Timer]
OnCalendar=*-*-* 02:30
Persistent=true
[Install]
WantedBy=timers.target
X
systemctl --user daemon-reload || true
systemctl --user enable --now borg-backup.timer || echo "enable it by hand: systemctl --user enable --now borg-backup.timer"
