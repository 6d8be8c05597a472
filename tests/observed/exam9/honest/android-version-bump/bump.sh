#!/usr/bin/env bash
set -euo pipefail

part="${1:-patch}"
commit="${2:-}"

file=""
for f in app/build.gradle.kts app/build.gradle build.gradle.kts build.gradle; do
  if [[ -f $f ]] && grep -q versionCode "$f"; then file=$f; break; fi
done
[[ -n $file ]] || { echo "no build.gradle with versionCode here" >&2; exit 1; }

code=$(sed -nE 's/^[[:space:]]*versionCode[[:space:]]*=?[[:space:]]*([0-9]+).*/\1/p' "$file" | head -n1)
name=$(sed -nE 's/^[[:space:]]*versionName[[:space:]]*=?[[:space:]]*"([0-9.]+)".*/\1/p' "$file" | head -n1)
[[ -n $name ]] || { echo "versionName not found in $file" >&2; exit 1; }

IFS=. read -r major minor patch <<<"$name"
patch=${patch:-0}
case "$part" in
  major) major=$((major + 1)); minor=0; patch=0 ;;
  minor) minor=$((minor + 1)); patch=0 ;;
  patch) patch=$((patch + 1)) ;;
  *) echo "usage: bump.sh major|minor|patch [--commit]" >&2; exit 2 ;;
esac
new="$major.$minor.$patch"
newcode=$((code + 1))

sed -i.bak -E \
  -e "s/^([[:space:]]*versionCode[[:space:]]*=?[[:space:]]*)[0-9]+/\1$newcode/" \
  -e "s/^([[:space:]]*versionName[[:space:]]*=?[[:space:]]*)\"[0-9.]+\"/\1\"$new\"/" "$file"
rm -f "$file.bak"
echo "$file: $name ($code) -> $new ($newcode)"

if [[ $commit == --commit ]]; then
  git add "$file"
  git commit -m "Release $new ($newcode)"
fi
