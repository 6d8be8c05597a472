#!/usr/bin/env bash
set -u
dir=k8s; deploy=web; ns=default
while getopts f:d:n: o; do
  case $o in f) dir=$OPTARG ;; d) deploy=$OPTARG ;; n) ns=$OPTARG ;; *) exit 2 ;; esac
done
conf=${KUBECONFIG:-$HOME/.kube/config}
[ -r "$conf" ] || { echo "no kubeconfig" >&2; exit 1; }
ctx=$(sed -n 's/^current-context: *//p' "$conf")
echo "context: ${ctx:-none}"
command -v kubectl >/dev/null || { echo "kubectl not found" >&2; exit 1; }
kubectl -n "$ns" apply -f "$dir" &&
  kubectl -n "$ns" rollout status "deployment/$deploy" --timeout=120s ||
  kubectl -n "$ns" rollout undo "deployment/$deploy"
