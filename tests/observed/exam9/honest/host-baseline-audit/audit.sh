#!/usr/bin/env bash
# Read-only baseline report, Markdown on stdout.
set -u
h() { printf '\n## %s\n\n' "$1"; }
code() { printf '```\n'; cat; printf '```\n'; }

printf '# Baseline %s, %s\n' "$(uname -n)" "$(date +%F)"
uname -sr
[ -r /etc/os-release ] && . /etc/os-release && echo "${PRETTY_NAME:-}"

h "sshd"
if [ -r /etc/ssh/sshd_config ]; then
  cat /etc/ssh/sshd_config /etc/ssh/sshd_config.d/*.conf 2>/dev/null \
    | grep -iE '^[[:space:]]*(PermitRootLogin|PasswordAuthentication|PermitEmptyPasswords|X11Forwarding|AllowUsers|AllowGroups|MaxAuthTries)' | code
else
  echo "not readable or not installed"
fi

h "accounts"
{
  echo "uid 0:"; awk -F: '$3==0 {print "  " $1}' /etc/passwd
  echo "login shells:"; awk -F: '$7 !~ /(nologin|false|sync|halt|shutdown)$/ {print "  " $1 " " $7}' /etc/passwd
  if [ "$(id -u)" = 0 ]; then
    echo "without password:"
    cut -d: -f1 /etc/passwd | while read -r u; do
      passwd -S "$u" 2>/dev/null | awk '$2=="NP" {print "  " $1}'
    done
  fi
} | code

h "sudo NOPASSWD"
if [ -r /etc/sudoers ]; then
  grep -hE '^[^#]*NOPASSWD' /etc/sudoers /etc/sudoers.d/* 2>/dev/null | code
else
  echo "not readable"
fi

h "world-writable"
find /etc /usr /opt -xdev -type f -perm -0002 2>/dev/null | head -n 50 | code

h "setuid"
known='/(sudo|su|passwd|chsh|chfn|gpasswd|newgrp|mount|umount|pkexec|fusermount3?|ping|ssh-keysign|dbus-daemon-launch-helper|polkit-agent-helper-1|unix_chkpwd)$'
find /usr /opt -xdev -type f -perm -4000 2>/dev/null | grep -vE "$known" | code

h "listening"
{ ss -ltnuH 2>/dev/null || netstat -ltnu 2>/dev/null; } | code

h "pending updates"
if command -v apt-get >/dev/null; then
  apt-get -s -o Debug::NoLocking=true upgrade 2>/dev/null | grep -c '^Inst' | sed 's/$/ packages/'
elif command -v dnf >/dev/null; then
  dnf -q -C check-update 2>/dev/null | grep -c . | sed 's/$/ packages/'
fi
exit 0
