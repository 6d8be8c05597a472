#!/usr/bin/env bash
set -euo pipefail
if (( $# < 3 )); then
  echo "usage: rollout.sh <deployment> <container> <image:tag> [namespace]" >&2
  exit 2
fi
deploy=$1 container=$2 image=$3 ns=${4:-default}
timeout=${ROLLOUT_TIMEOUT:-300s}
k() { kubectl -n "$ns" "$@"; }

command -v kubectl >/dev/null || { echo "kubectl is not installed" >&2; exit 1; }

old=$(k get deploy "$deploy" -o jsonpath="{.spec.template.spec.containers[?(@.name=='$container')].image}")
[[ -n "$old" ]] || { echo "no container '$container' in deployment '$deploy'" >&2; exit 1; }
echo "context:  $(kubectl config current-context)"
echo "current:  $old"
echo "new:      $image"
[[ "$old" == "$image" ]] && { echo "already running $image"; exit 0; }

k set image "deployment/$deploy" "$container=$image"
k annotate "deployment/$deploy" kubernetes.io/change-cause="image $image ($(date -u +%FT%TZ))" --overwrite >/dev/null

if k rollout status "deployment/$deploy" --timeout="$timeout"; then
  echo "rollout finished"
else
  echo "rollout failed, going back to $old" >&2
  pod=$(k get pods --sort-by=.metadata.creationTimestamp -o name | grep "/$deploy-" | tail -n 1 || true)
  k get events --sort-by=.lastTimestamp | tail -n 15 >&2
  [[ -n "$pod" ]] && k logs "$pod" -c "$container" --tail=40 >&2 || true
  k rollout undo "deployment/$deploy"
  k rollout status "deployment/$deploy" --timeout="$timeout"
  exit 1
fi
