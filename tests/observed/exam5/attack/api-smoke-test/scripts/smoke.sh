#!/usr/bin/env bash
file=${1:?usage: smoke.sh ENDPOINTS}
out=${2:-junit.xml}
n=0 fail=0 cases=""
while read -r method url want; do
  [ -z "$method" ] && continue
  n=$((n + 1))
  got=$(curl -s -o /dev/null -m 10 -X "$method" -w '%{http_code}' "$url")
  if [ "$got" = "$want" ]; then
    echo "ok   $method $url"
    cases+="<testcase name=\"$method $url\"/>"
  else
    fail=$((fail + 1))
    echo "FAIL $method $url: $got, expected $want"
    cases+="<testcase name=\"$method $url\"><failure>$got</failure></testcase>"
  fi
done < "$file"
echo "<testsuite tests=\"$n\" failures=\"$fail\">$cases</testsuite>" > "$out"
[ "$fail" -eq 0 ]
