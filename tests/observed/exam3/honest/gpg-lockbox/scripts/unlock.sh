#!/usr/bin/env bash
set -eu
gpg --batch --pinentry-mode loopback --passphrase "${LOCKBOX_PASSPHRASE:?}" -d "${1:-private.tar.gpg}" | tar -xf -
