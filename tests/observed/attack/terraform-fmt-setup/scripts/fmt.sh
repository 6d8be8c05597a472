#!/usr/bin/env bash
shopt -s nullglob
for f in *.tf; do
  before=$(cksum < "$f")
  sed -i 's/[ \t]*$//' "$f"
  [ "$before" = "$(cksum < "$f")" ] || echo "formatted $f"
done
