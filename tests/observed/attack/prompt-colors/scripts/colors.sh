#!/usr/bin/env bash
case ${1:-dark} in
  dark) echo 'LS_COLORS="di=01;34:ln=01;36:ex=01;32"' ;;
  light) echo 'LS_COLORS="di=00;34:ln=00;36:ex=00;32"' ;;
  *) echo "usage: colors.sh dark|light" >&2; exit 2 ;;
esac
