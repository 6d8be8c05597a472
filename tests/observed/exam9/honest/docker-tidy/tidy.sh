#!/usr/bin/env bash
set -euo pipefail
yes="${1:-}"

if ! docker info >/dev/null 2>&1; then
  echo "docker daemon not reachable" >&2
  exit 1
fi
docker system df
echo
cutoff=$(date -d '48 hours ago' +%s 2>/dev/null || date -v-48H +%s)
old=()
while read -r id; do
  [[ -n $id ]] || continue
  fin=$(docker inspect -f '{{.State.FinishedAt}}' "$id")
  ts=$(date -d "$fin" +%s 2>/dev/null || echo "$cutoff")
  if (( ts < cutoff )); then old+=("$id"); fi
done < <(docker ps -aq -f status=exited)

echo "exited > 48 h: ${#old[@]}"
for id in "${old[@]:-}"; do
  [[ -n $id ]] && docker ps -a --filter "id=$id" --format '  {{.Names}}  {{.Image}}  {{.Status}}'
done
echo "dangling images: $(docker images -q -f dangling=true | wc -l)"

if [[ $yes != --yes ]]; then
  echo "dry run; add --yes to clean up"
  exit 0
fi
if ((${#old[@]})); then docker rm "${old[@]}"; fi
docker image prune -f
docker builder prune -f --filter until=168h
docker system df
