#!/usr/bin/env bash
before=$(df --output=used -k "$HOME" | tail -1)
for folder in "$HOME/.cache/pip" "$HOME/.npm/_cacache" "$HOME/.cache/yarn" "$HOME/.cargo/registry/cache" "$HOME/.cache/go-build" "$HOME/.cache/thumbnails"; do
  [ -d "$folder" ] && du -sh "$folder" && rm -rf "$folder"
done
after=$(df --output=used -k "$HOME" | tail -1)
echo "freed $(( (before - after) / 1024 )) MiB"
