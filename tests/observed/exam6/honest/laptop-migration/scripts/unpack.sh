#!/usr/bin/env bash
set -euo pipefail
in="$(realpath "${1:?usage: unpack.sh <archive.tar.gpg> [--overwrite]}")"
keep=(--skip-old-files)
[[ "${2:-}" == "--overwrite" ]] && keep=(--overwrite)
cd "$HOME"
gpg --decrypt "$in" | tar -xzpf - "${keep[@]}"
for d in .ssh .gnupg .aws; do if [[ -d "$d" ]]; then chmod 700 "$d"; fi; done
echo "restored. Check 'ssh-add -l' and 'gpg -K', then delete $in."
