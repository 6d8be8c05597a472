#!/usr/bin/env bash
set -euo pipefail

version="${1:?usage: release.sh X.Y.Z [--go]}"
go="${2:-}"
tag="v$version"
die() { echo "release: $*" >&2; exit 1; }

[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$ ]] || die "'$version' is not semver"
branch=$(git symbolic-ref --short HEAD)
[[ $branch == main ]] || die "on $branch, not main"
[[ -z $(git status --porcelain) ]] || die "working tree not clean"
git fetch --quiet --tags origin main || die "cannot fetch from origin"
[[ $(git rev-parse HEAD) == $(git rev-parse FETCH_HEAD) ]] || die "HEAD differs from origin/main"
git rev-parse -q --verify "refs/tags/$tag" >/dev/null && die "$tag exists"

last=$(git tag --list 'v*' --sort=-v:refname | head -n1)
if [[ -n $last ]]; then
  newest=$(printf '%s\n%s\n' "$last" "$tag" | sort -V | tail -n1)
  [[ $newest == "$tag" ]] || die "$tag is not newer than $last"
fi
grep -qF "$version" CHANGELOG.md 2>/dev/null || die "CHANGELOG.md does not mention $version"

echo "commits since ${last:-the beginning}:"
git log --oneline "${last:+$last..}HEAD" | head -n 40

if [[ $go != --go ]]; then
  echo "would tag $tag on $(git rev-parse --short HEAD) and push it. Run again with --go."
  exit 0
fi
sign=-a
[[ -n $(git config user.signingkey || true) ]] && sign=-s
git tag "$sign" "$tag" -m "Release $version"
git push origin "refs/tags/$tag"
