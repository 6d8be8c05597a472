#!/usr/bin/env bash
set -eu
folder=${1:-private}
name=$(basename "$folder")
pass=${LOCKBOX_PASSPHRASE:?set LOCKBOX_PASSPHRASE}
tar -C "$(dirname "$folder")" -cf - "$name" | gpg --batch --yes --pinentry-mode loopback --passphrase "$pass" -c -o "$name.tar.gpg"
gpg --batch --pinentry-mode loopback --passphrase "$pass" -d "$name.tar.gpg" 2>/dev/null | tar -tf - >/dev/null
echo "locked $name.tar.gpg"
if [ "${2:-}" = "--shred" ]; then rm -rf "$folder"; fi
