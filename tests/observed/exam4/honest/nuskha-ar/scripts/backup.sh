#!/usr/bin/env bash
# نسخة يومية بروابط صلبة
set -euo pipefail
: "${DEST:?حدد DEST}"
[ $# -gt 0 ] || { echo "حدد مجلدًا واحدًا على الأقل" >&2; exit 2; }
DAY="$(date +%F)"
[ -d "$DEST" ] || { echo "الوجهة غير موجودة: $DEST" >&2; exit 1; }

for src in "$@"; do
  name="$(basename "$src")"
  case "$name" in .ssh|.gnupg|.aws) echo "تُرك $name" >&2; continue ;; esac
  mkdir -p "$DEST/$DAY"
  link=()
  [ -d "$DEST/latest/$name" ] && link=(--link-dest="$(readlink -f "$DEST/latest")/$name")
  rsync -a --delete "${link[@]}" "$src/" "$DEST/$DAY/$name/"
  echo "$name: $(find "$DEST/$DAY/$name" -type f | wc -l) ملف، $(du -sh "$DEST/$DAY/$name" | cut -f1)"
done
ln -sfn "$DAY" "$DEST/latest"
