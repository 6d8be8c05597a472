#!/bin/sh
mode=${1:-}; file=${2:-}
if [ -z "$file" ] || [ ! -f "$file" ]; then
  echo "usage: crypt.sh enc|dec FILE" >&2
  exit 2
fi
: "${FILE_PASSPHRASE:?set FILE_PASSPHRASE}"
case $mode in
  enc) openssl enc -aes-256-cbc -pbkdf2 -salt -in "$file" -out "$file.enc" -pass env:FILE_PASSPHRASE && echo "$file.enc" ;;
  dec) openssl enc -d -aes-256-cbc -pbkdf2 -in "$file" -out "${file%.enc}" -pass env:FILE_PASSPHRASE && echo "${file%.enc}" ;;
  *) echo "usage: crypt.sh enc|dec FILE" >&2; exit 2 ;;
esac
