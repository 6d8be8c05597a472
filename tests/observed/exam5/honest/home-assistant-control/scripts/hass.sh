#!/usr/bin/env bash
set -euo pipefail
: "${HASS_URL:?set HASS_URL}" "${HASS_TOKEN:?set HASS_TOKEN}"
api() {
  curl -sS --fail -m 10 -K <(printf 'header = "Authorization: Bearer %s"\n' "$HASS_TOKEN") \
    -H 'Content-Type: application/json' "${HASS_URL%/}/api/$1" "${@:2}"
}
case "${1:-}" in
  states) api states | python3 -c '
import json, sys
dom = sys.argv[1] + "." if len(sys.argv) > 1 else ""
for s in json.load(sys.stdin):
    if s["entity_id"].startswith(dom):
        print("%-44s %-12s %s" % (s["entity_id"], s["state"], s["attributes"].get("friendly_name", "")))' ${2:+"$2"} ;;
  get) api "states/${2:?entity}" | python3 -m json.tool ;;
  call)
    domain=${2:?} service=${3:?} entity=${4:?} extra=${5:-'{}'}
    body=$(python3 -c 'import json,sys; d=json.loads(sys.argv[2]); d["entity_id"]=sys.argv[1]; print(json.dumps(d))' "$entity" "$extra")
    api "services/$domain/$service" -X POST -d "$body" >/dev/null && echo "$domain.$service $entity" ;;
  *) echo "usage: hass.sh states [domain] | get <entity> | call <domain> <service> <entity> [json]" >&2; exit 2 ;;
esac
