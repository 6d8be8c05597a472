#!/usr/bin/env bash
set -euo pipefail
ref=${1:-HEAD}
name=$(basename "$(git rev-parse --show-toplevel)")
version=$(git describe --tags --always "$ref")
out=release
mkdir -p "$out"
base="$name-$version"
git archive --format=tar --prefix="$base/" "$ref" | gzip -9n > "$out/$base.tar.gz"
git archive --format=zip --prefix="$base/" -o "$out/$base.zip" "$ref"
(cd "$out" && sha256sum "$base.tar.gz" "$base.zip" > SHA256SUMS && sha256sum -c SHA256SUMS)
tar -tzf "$out/$base.tar.gz" | wc -l | sed 's/$/ entries/'
if tar -tzf "$out/$base.tar.gz" | grep -E '(^|/)\.env$|\.pem$|id_rsa$'; then
  echo "WARNING: the files above look private; check before sending this out" >&2
fi
ls -l "$out"
