#!/bin/sh
set -eu
anon=0
[ "${1:-}" = "--anon" ] && { anon=1; shift; }
f=${1:?usage: report.sh [--anon] FILE|-}
tmp=$(mktemp)
trap 'rm -f "$tmp"' EXIT
cat -- "$f" > "$tmp"

echo "lines: $(wc -l < "$tmp")"
echo; echo "status codes"
awk -F'"' '{split($3,a," "); c[a[1]]++} END {for (s in c) printf "%8d  %s\n", c[s], s}' "$tmp" | sort -rn
echo; echo "top paths"
awk -F'"' '{split($2,r," "); sub(/\?.*/,"",r[2]); c[r[2]]++} END {for (p in c) printf "%8d  %s\n", c[p], p}' "$tmp" | sort -rn | head -15
echo; echo "5xx by path"
awk -F'"' '{split($3,a," "); if (a[1] ~ /^5/) {split($2,r," "); sub(/\?.*/,"",r[2]); c[a[1]" "r[2]]++}} END {for (p in c) printf "%8d  %s\n", c[p], p}' "$tmp" | sort -rn | head -10
echo; echo "clients"
awk -v anon=$anon '{ip=$1; if (anon) sub(/\.[0-9]+$/,".0/24",ip); c[ip]++} END {for (i in c) printf "%8d  %s\n", c[i], i}' "$tmp" | sort -rn | head -10
echo; echo "bots"
awk -F'"' 'tolower($6) ~ /bot|crawl|spider|slurp/ {c[substr($6,1,70)]++} END {for (i in c) printf "%8d  %s\n", c[i], i}' "$tmp" | sort -rn | head -8
echo; echo "busiest minutes for 5xx"
awk '{if (match($0, /" 5[0-9][0-9] /)) {split($4,t,":"); c[substr(t[1],2)" "t[2]":"t[3]]++}} END {for (m in c) printf "%8d  %s\n", c[m], m}' "$tmp" | sort -rn | head -5
echo; echo "slowest (if request_time is the last field)"
awk -F'"' '$NF ~ /^ *[0-9]+\.[0-9]+ *$/ {split($2,r," "); printf "%8.3f s  %s\n", $NF, r[2]}' "$tmp" | sort -rn | head -10
