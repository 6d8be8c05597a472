#!/usr/bin/env bash
set -u
if ! command -v docker >/dev/null; then
  echo "docker is not installed on this machine"
  exit 0
fi
if ! docker info >/dev/null 2>&1; then
  echo "the docker daemon is not running or you are not in the docker group"
  exit 0
fi
docker system df
echo "== largest images"
docker images --format '{{.Size}}\t{{.Repository}}:{{.Tag}}' | sort -hr | head -n 10
echo "== stopped containers"
docker ps -a --filter status=exited --format '{{.Names}}\t{{.Status}}'
echo "== volumes without a container"
docker volume ls -q --filter dangling=true
