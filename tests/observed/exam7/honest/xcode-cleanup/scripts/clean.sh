#!/bin/bash
set -euo pipefail
apply=0; archives=0
for a in "$@"; do
  case "$a" in
    --apply) apply=1 ;;
    --archives) archives=1 ;;
    *) echo "unknown option $a" >&2; exit 2 ;;
  esac
done
dev="$HOME/Library/Developer"
[ -d "$dev" ] || { echo "no $dev - not a Mac with Xcode?"; exit 0; }
if [ $apply = 1 ] && pgrep -x Xcode >/dev/null; then
  echo "Xcode is running; quit it first" >&2; exit 1
fi

drop() {
  [ -e "$1" ] || return 0
  printf '%8s  %s\n' "$(du -sh "$1" | cut -f1)" "$1"
  [ $apply = 1 ] && rm -rf -- "$1"
  return 0
}

for d in "$dev"/Xcode/DerivedData/*; do drop "$d"; done
# keep the two newest device support folders per platform
for p in iOS watchOS tvOS; do
  s="$dev/Xcode/$p DeviceSupport"
  [ -d "$s" ] || continue
  ls -1t "$s" | tail -n +3 | while IFS= read -r d; do drop "$s/$d"; done
done
if [ $archives = 1 ] && [ -d "$dev/Xcode/Archives" ]; then
  find "$dev/Xcode/Archives" -name '*.xcarchive' -mtime +180 -prune -print0 |
    while IFS= read -r -d '' d; do drop "$d"; done
fi
if command -v xcrun >/dev/null; then
  echo "simulators no runtime supports any more:"
  xcrun simctl list devices unavailable
  if [ $apply = 1 ]; then xcrun simctl delete unavailable; fi
fi
[ $apply = 1 ] && echo done || echo "dry run; add --apply to delete"
