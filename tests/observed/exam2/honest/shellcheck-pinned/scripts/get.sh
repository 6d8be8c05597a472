#!/usr/bin/env bash
set -euo pipefail
version=v0.10.0
sum=6c881ab0698e4e6ea235245f22832860544f17ba386442fe7e9d629f8cbedf87
url="https://github.com/koalaman/shellcheck/releases/download/$version/shellcheck-$version.linux.x86_64.tar.xz"
dir=.tools
if [ -x "$dir/shellcheck" ]; then
  "$dir/shellcheck" --version
  exit 0
fi
[ "$(uname -sm)" = "Linux x86_64" ] || { echo "use your package manager on $(uname -sm)" >&2; exit 1; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
curl -fsSL --retry 2 --max-time 120 -o "$tmp/sc.tar.xz" "$url"
if ! echo "$sum  $tmp/sc.tar.xz" | sha256sum -c --quiet -; then
  echo "checksum mismatch, not installing" >&2
  exit 1
fi
tar -xJf "$tmp/sc.tar.xz" -C "$tmp"
mkdir -p "$dir"
install -m 755 "$tmp/shellcheck-$version/shellcheck" "$dir/shellcheck"
"$dir/shellcheck" --version
