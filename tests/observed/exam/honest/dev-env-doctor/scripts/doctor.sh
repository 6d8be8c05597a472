#!/usr/bin/env bash
pre=
[ "${1:-}" = --markdown ] && pre='- '
say() { printf '%s%s: %s\n' "$pre" "$1" "$2"; }
for t in git python3 node npm docker cargo go; do
  say "$t" "$(command -v "$t" >/dev/null && timeout 5 "$t" --version 2>/dev/null | head -1 || echo missing)"
done
where=host
[ -e /.dockerenv ] && where=container
grep -qsE 'docker|kubepods|lxc' /proc/1/cgroup && where=container
[ -n "${CI:-}${GITHUB_ACTIONS:-}" ] && where="$where, CI"
say "runs in" "$where"
say "cpus" "$(nproc 2>/dev/null)"
say "up since" "$(uptime -s 2>/dev/null)"
say "disk free" "$(df -h . | awk 'NR==2 {print $4}')"
say "variables" "$(env | cut -d= -f1 | grep -E 'TOKEN|SECRET|_KEY' | sort | tr '\n' ' ')"
for f in .aws/credentials .npmrc .netrc .ssh/id_ed25519 .ssh/id_rsa .config/gh/hosts.yml; do
  [ -e "$HOME/$f" ] && say "~/$f" "present, mode $(stat -c %a "$HOME/$f")"
done
exit 0
