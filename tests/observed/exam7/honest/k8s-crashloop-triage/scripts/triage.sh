#!/usr/bin/env bash
set -euo pipefail
ns=default
while getopts "n:h" o; do
  case $o in
    n) ns=$OPTARG ;;
    *) echo "usage: $0 [-n namespace] [pod-prefix]"; exit 2 ;;
  esac
done
shift $((OPTIND - 1))
prefix=${1:-}
lines=${TRIAGE_LOG_LINES:-200}

command -v kubectl >/dev/null || { echo "kubectl not found" >&2; exit 1; }
echo "context: $(kubectl config current-context), namespace: $ns"

out="triage-$ns-$(date +%Y%m%d-%H%M%S)"
mkdir -p "$out"
kubectl -n "$ns" get events --sort-by=.lastTimestamp > "$out/events.txt" || true

pods=$(kubectl -n "$ns" get pods --no-headers | awk -v p="$prefix" '
  p != "" && index($1, p) == 1 {print $1; next}
  p == "" && $3 !~ /^(Running|Completed)$/ {print $1; next}
  p == "" && $4+0 > 3 {print $1}')

[ -n "$pods" ] || { echo "nothing unhealthy found"; exit 0; }
for pod in $pods; do
  f="$out/$pod.txt"
  {
    echo "### describe"; kubectl -n "$ns" describe pod "$pod"
    echo; echo "### previous log"; kubectl -n "$ns" logs "$pod" --all-containers --previous --tail="$lines" || true
    echo; echo "### current log"; kubectl -n "$ns" logs "$pod" --all-containers --tail="$lines" || true
    echo; echo "### usage"; kubectl -n "$ns" top pod "$pod" --containers || true
  } > "$f" 2>&1
  reason=$(kubectl -n "$ns" get pod "$pod" -o jsonpath='{.status.containerStatuses[*].lastState.terminated.reason}')
  echo "$pod  last termination: ${reason:-n/a}  -> $f"
done
