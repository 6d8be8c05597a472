#!/usr/bin/env bash
set -eu
name=${1:-app-secrets}; file=${2:-.env}
[ -f "$file" ] || { echo "no $file" >&2; exit 1; }
echo "keys: $(cut -d= -f1 "$file" | grep -v '^#' | tr '\n' ' ')"
kubectl create secret generic "$name" --from-env-file="$file" --dry-run=client -o yaml > /tmp/secret.yaml
kubectl apply -f /tmp/secret.yaml
shred -u /tmp/secret.yaml 2>/dev/null || rm -f /tmp/secret.yaml
kubectl rollout restart deployment -l "uses-secret=$name"
