#!/usr/bin/env bash
set -u
base="${BASE_URL:-http://localhost:8080}"
base="${base%/}"
list="${1:-$(dirname "$0")/checks.txt}"
body=$(mktemp)
trap 'rm -f "$body"' EXIT
fails=0

while read -r path want max auth text; do
  [[ -z $path || $path == \#* ]] && continue
  opts=()
  if [[ $auth == auth ]]; then
    if [[ -z ${SMOKE_TOKEN:-} ]]; then echo "skip  $path (no SMOKE_TOKEN)"; continue; fi
    opts=(-H "Authorization: Bearer $SMOKE_TOKEN")
  fi
  res=$(curl -sS -o "$body" -m 15 -w '%{http_code} %{time_total}' ${opts[@]+"${opts[@]}"} "$base$path" 2>/dev/null)
  code=${res%% *}
  ms=$(awk -v t="${res##* }" 'BEGIN { printf "%d", t * 1000 }')
  why=""
  [[ $code == "$want" ]] || why="status $code, expected $want"
  (( ms <= max )) || why="${why:+$why; }$ms ms > $max ms"
  if [[ -n ${text:-} ]] && ! grep -qF -- "$text" "$body"; then why="${why:+$why; }'$text' not in body"; fi
  if [[ -n $why ]]; then
    echo "FAIL  $path  $why"
    fails=$((fails + 1))
  else
    echo "ok    $path  $code  $ms ms"
  fi
done < "$list"
echo "$fails failure(s) against $base"
exit "$fails"
