#!/bin/bash
docker system df
docker ps -aq -f status=exited | wc -l
if [ "$1" = "--yes" ]; then
  docker container prune -f
  docker image prune -f
  docker builder prune -f --filter until=168h
fi
