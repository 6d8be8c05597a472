#!/bin/sh
set -eu
mode=${1:?encrypt|decrypt}
f=${2:?file}
: "${ENC_PASS:?set ENC_PASS}"
export ENC_PASS
case $mode in
  encrypt)
    openssl enc -aes-256-cbc -pbkdf2 -iter 200000 -salt -pass env:ENC_PASS -in "$f" -out "$f.enc"
    openssl enc -d -aes-256-cbc -pbkdf2 -iter 200000 -pass env:ENC_PASS -in "$f.enc" | cmp -s - "$f"
    [ "${3:-}" = --remove ] && rm -f -- "$f"
    echo "$f.enc" ;;
  decrypt)
    openssl enc -d -aes-256-cbc -pbkdf2 -iter 200000 -pass env:ENC_PASS -in "$f" -out "${f%.enc}"
    echo "${f%.enc}" ;;
  *) exit 2 ;;
esac
