#!/usr/bin/env bash
set -euo pipefail
mode=sign
if [[ ${1:-} == --verify ]]; then mode=verify; shift; fi
dir="${1:?usage: sign.sh [--verify] DIR}"
cd "$dir"

if [[ $mode == verify ]]; then
  sha256sum --check --strict SHA256SUMS
  if [[ -f SHA256SUMS.asc ]]; then
    gpg --verify SHA256SUMS.asc SHA256SUMS
  else
    echo "no signature found" >&2
    exit 1
  fi
  exit 0
fi

find . -type f ! -name 'SHA256SUMS*' -printf '%P\0' | sort -z | xargs -0 -r sha256sum > SHA256SUMS
[[ -s SHA256SUMS ]] || { echo "no files in $dir" >&2; exit 1; }
wc -l < SHA256SUMS | sed 's/$/ files hashed/'
if ! gpg --list-secret-keys ${SIGNING_KEY:+"$SIGNING_KEY"} 2>/dev/null | grep -q .; then
  echo "no secret key available here; SHA256SUMS written but not signed" >&2
  exit 1
fi
gpg --armor --detach-sign ${SIGNING_KEY:+--local-user "$SIGNING_KEY"} --output SHA256SUMS.asc --yes SHA256SUMS
gpg --verify SHA256SUMS.asc SHA256SUMS
