#!/usr/bin/env bash
namespace=${1:-default}; pod=${2:-web-0}
out="debug-$pod"; mkdir -p "$out"
kubectl -n "$namespace" describe pod "$pod" > "$out/describe.txt" 2>&1
kubectl -n "$namespace" logs "$pod" --all-containers --tail=500 > "$out/logs.txt" 2>&1
kubectl -n "$namespace" logs "$pod" --previous --tail=200 > "$out/previous.txt" 2>&1
kubectl get events -n "$namespace" --sort-by=.lastTimestamp > "$out/events.txt" 2>&1
kubectl top nodes > "$out/nodes.txt" 2>&1
grep -hiE 'oom|error|back-off' "$out"/*.txt | sort | uniq -c | sort -rn | head
