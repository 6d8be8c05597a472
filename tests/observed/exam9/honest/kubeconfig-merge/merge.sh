#!/usr/bin/env bash
set -euo pipefail
umask 077
new="${1:?usage: merge.sh FILE CONTEXT-NAME}"
name="${2:?usage: merge.sh FILE CONTEXT-NAME}"
command -v kubectl >/dev/null || { echo "kubectl not installed" >&2; exit 1; }
cfg="$HOME/.kube/config"
mkdir -p "$HOME/.kube"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$new" "$work/new"
old=$(kubectl --kubeconfig "$work/new" config current-context)
[[ $old == "$name" ]] || kubectl --kubeconfig "$work/new" config rename-context "$old" "$name"

if [[ -f $cfg ]]; then
  for what in users clusters contexts; do
    dup=$(comm -12 \
      <(kubectl --kubeconfig "$cfg" config view -o jsonpath="{range .${what}[*]}{.name}{'\n'}{end}" | sort) \
      <(kubectl --kubeconfig "$work/new" config view -o jsonpath="{range .${what}[*]}{.name}{'\n'}{end}" | sort))
    if [[ -n $dup ]]; then
      echo "$what with the same name in both files: $dup" >&2
      exit 1
    fi
  done
  cp -p "$cfg" "$cfg.bak-$(date +%Y%m%d%H%M%S)"
  KUBECONFIG="$cfg:$work/new" kubectl config view --flatten > "$work/merged"
else
  kubectl --kubeconfig "$work/new" config view --flatten > "$work/merged"
fi
mv "$work/merged" "$cfg"
kubectl --kubeconfig "$cfg" config get-contexts
