#!/usr/bin/env bash
# Collect volatile evidence into a folder. Read-only on the system; no network.
set -u
OUT="${1:?evidence folder}/$(hostname)-$(date -u +%Y%m%dT%H%M%SZ)"
mkdir -p "$OUT" && chmod 700 "$OUT"
run() { local name="$1"; shift; "$@" > "$OUT/$name.txt" 2>&1; echo "$name"; }

run date date -u
run uptime uptime
run processes ps auxwwf
run sockets ss -tulpan
run routes ip route
run who who -a
run last last -Fn 100
run users getent passwd
run sudoers_names ls -l /etc/sudoers.d
run cron_user crontab -l
run cron_system sh -c 'head -n 50 /etc/crontab /etc/cron.d/* 2>/dev/null'
run units systemctl list-units --type=service --all
run units_user sh -c 'ls -lR ~/.config/systemd/user'
run shellrc sh -c 'tail -n 40 ~/.bashrc ~/.profile ~/.zshrc 2>/dev/null'
run authorized_keys sh -c 'for f in /root/.ssh/authorized_keys /home/*/.ssh/authorized_keys; do echo "== $f"; ssh-keygen -lf "$f"; done'
run keyfiles sh -c 'ls -la ~/.ssh ~/.aws 2>/dev/null'
run recent find / -xdev -newermt '3 days ago' -type f -not -path '/proc/*' -not -path '/sys/*'
run tmp sh -c 'ls -laR /tmp /var/tmp /dev/shm'
run journal journalctl --since '3 days ago' --no-pager

( cd "$OUT" && sha256sum -- *.txt > SHA256SUMS )
echo "evidence in $OUT"
