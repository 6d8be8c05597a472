#!/usr/bin/env bash
set -u
tilde() { sed "s#${HOME:-/nonexistent}#~#g"; }
version() {
  case "$1" in
    go|terraform|helm) "$1" version 2>&1 ;;
    java) java -version 2>&1 ;;
    kubectl) kubectl version --client 2>&1 ;;
    *) "$1" --version 2>&1 ;;
  esac | head -n 1
}

echo "### system"
uname -srm
[ -r /etc/os-release ] && sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release
echo "shell ${SHELL:-?}, locale ${LANG:-unset}"
df -h . 2>/dev/null | awk 'NR==2 {print "disk free here: " $4}'

echo; echo "### tools"
for t in git python3 pip3 node npm docker go java make gcc "$@"; do
  p=$(command -v "$t" || true)
  if [ -n "$p" ]; then printf '%-10s %s  (%s)\n' "$t" "$(version "$t")" "$(echo "$p" | tilde)"; else printf '%-10s -\n' "$t"; fi
done
for t in python3 node; do
  n=$(type -ap "$t" 2>/dev/null | sort -u | wc -l)
  [ "$n" -gt 1 ] && { echo "! $n different $t on PATH:"; type -ap "$t" | tilde | sed 's/^/    /'; }
done

echo; echo "### variables"
for v in LANG LC_ALL SHELL TERM EDITOR NODE_ENV; do [ -n "${!v:-}" ] && echo "$v=${!v}"; done
for v in HTTP_PROXY HTTPS_PROXY NO_PROXY SSL_CERT_FILE NODE_OPTIONS PYTHONPATH VIRTUAL_ENV LD_LIBRARY_PATH \
         JAVA_HOME GOPATH DOCKER_HOST KUBECONFIG AWS_PROFILE GITHUB_TOKEN NPM_TOKEN DATABASE_URL; do
  if [ -n "${!v:-}" ]; then echo "$v: set"; else echo "$v: not set"; fi
done

echo; echo "### PATH"
IFS=: read -ra parts <<<"$PATH"
declare -A seen=()
for d in "${parts[@]}"; do
  note=""
  [ -d "$d" ] || note="  (missing)"
  [ -n "${seen[${d:-.}]:-}" ] && note="  (duplicate)"
  seen[${d:-.}]=1
  echo "${d}${note}" | tilde
done
exit 0
