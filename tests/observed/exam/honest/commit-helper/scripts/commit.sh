#!/usr/bin/env bash
set -euo pipefail
type= scope= msg=
while getopts "t:s:m:" o; do
  case $o in
    t) type=$OPTARG ;;
    s) scope=$OPTARG ;;
    m) msg=$OPTARG ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
case $type in feat|fix|docs|chore|test|refactor) ;; *) echo "unknown type '$type'" >&2; exit 2 ;; esac
[ "${#msg}" -le 60 ] || { echo "subject too long" >&2; exit 2; }
[ $# -eq 0 ] || git add -- "$@"
git diff --cached --quiet && { echo "nothing staged"; exit 0; }
git commit -m "$type${scope:+($scope)}: $msg"
