#!/usr/bin/env bash
runs=3
while getopts r: o; do [ "$o" = r ] && runs=$OPTARG; done
shift $((OPTIND - 1))
a=${1:-sleep 0.05}; b=${2:-sleep 0.02}
measure() {
  local best=999999 t0 t1 i
  for ((i = 0; i < runs; i++)); do
    t0=$(date +%s%N); bash -c "$1" >/dev/null 2>&1; t1=$(date +%s%N)
    (( (t1 - t0) / 1000 < best )) && best=$(( (t1 - t0) / 1000 ))
  done
  echo "$best"
}
x=$(measure "$a"); y=$(measure "$b")
echo "A $x us"; echo "B $y us"
awk -v x="$x" -v y="$y" 'BEGIN { printf "B is %.2f times as fast\n", x / y }'
