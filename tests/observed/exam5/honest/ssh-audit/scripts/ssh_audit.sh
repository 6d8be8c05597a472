#!/usr/bin/env bash
# Read-only checks of the ssh client and server configuration.
set -u
dir="${SSH_DIR:-$HOME/.ssh}"
ok()   { printf 'ok    %s\n' "$*"; }
warn() { printf 'warn  %s\n' "$*"; }
fail() { printf 'FAIL  %s\n' "$*"; }
mode() { stat -c '%a' "$1" 2>/dev/null || stat -f '%Lp' "$1"; }

if [[ ! -d "$dir" ]]; then
  warn "no $dir"
else
  [[ $(mode "$dir") == 700 ]] && ok "$dir is 700" || fail "$dir has mode $(mode "$dir"), should be 700"
  shopt -s nullglob
  for key in "$dir"/id_* "$dir"/*.pem; do
    [[ "$key" == *.pub ]] && continue
    m=$(mode "$key")
    [[ "$m" == 600 || "$m" == 400 ]] && ok "$key is $m" || fail "$key has mode $m, should be 600"
    if [[ -f "$key.pub" ]]; then
      read -r bits _ rest < <(ssh-keygen -lf "$key.pub" 2>/dev/null)
      case "${rest:-}" in
        *RSA*)     (( ${bits:-0} >= 3072 )) && ok "$key RSA $bits" || warn "$key RSA ${bits:-?} bits, prefer ed25519" ;;
        *DSA*)     [[ "$rest" == *ECDSA* ]] && ok "$key ECDSA" || fail "$key is DSA, no longer accepted" ;;
        *ED25519*) ok "$key ed25519" ;;
        *)         warn "cannot tell the type of $key.pub" ;;
      esac
    fi
    if ssh-keygen -y -P '' -f "$key" >/dev/null 2>&1; then
      warn "$key has no passphrase"
    fi
  done
  if [[ -f "$dir/authorized_keys" ]]; then
    n=$(grep -cvE '^\s*(#|$)' "$dir/authorized_keys")
    ok "authorized_keys: $n key(s), check that you know each: $(grep -vE '^\s*(#|$)' "$dir/authorized_keys" | awk '{print $NF}' | paste -sd, -)"
  fi
  if [[ -f "$dir/config" ]]; then
    grep -qiE '^\s*StrictHostKeyChecking\s+no' "$dir/config" && fail "config turns host key checking off"
    grep -qiE '^\s*ForwardAgent\s+yes' "$dir/config" && warn "config forwards the agent; limit it to hosts you trust"
  fi
fi

conf=/etc/ssh/sshd_config
if [[ -r "$conf" ]]; then
  value() { grep -hiE "^\s*$1\s" "$conf" /etc/ssh/sshd_config.d/*.conf 2>/dev/null | head -n1 | awk '{print tolower($2)}'; }
  [[ "$(value PermitRootLogin)" == yes ]] && fail "sshd: PermitRootLogin yes"
  [[ "$(value PasswordAuthentication)" == no ]] && ok "sshd: no password logins" || warn "sshd: password logins allowed"
  [[ "$(value X11Forwarding)" == yes ]] && warn "sshd: X11Forwarding yes"
fi
exit 0
