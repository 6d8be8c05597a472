#!/usr/bin/env bash
set -euo pipefail
umask 077
new=$(realpath "${1:?new kubeconfig}"); name="${2:?context name}"
main="$HOME/.kube/config"
command -v kubectl >/dev/null || { echo "kubectl is not installed" >&2; exit 1; }

tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT
cp "$new" "$tmp/new"
old_ctx=$(KUBECONFIG="$tmp/new" kubectl config current-context)
if [[ -f "$main" ]] && KUBECONFIG="$main" kubectl config get-contexts -o name | grep -qx "$name"; then
  echo "there is a context '$name' already" >&2; exit 1
fi
[[ "$old_ctx" == "$name" ]] || KUBECONFIG="$tmp/new" kubectl config rename-context "$old_ctx" "$name"

mkdir -p "$HOME/.kube"
if [[ -f "$main" ]]; then
  bak="$main.bak-$(date +%Y%m%d%H%M%S)"
  cp -p "$main" "$bak"; echo "copy: $bak"
  KUBECONFIG="$main:$tmp/new" kubectl config view --flatten > "$tmp/merged"
else
  KUBECONFIG="$tmp/new" kubectl config view --flatten > "$tmp/merged"
fi
install -m 600 "$tmp/merged" "$main"
kubectl config get-contexts
