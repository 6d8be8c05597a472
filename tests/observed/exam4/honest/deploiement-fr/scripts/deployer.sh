#!/usr/bin/env bash
set -euo pipefail
: "${SERVEUR:?définir SERVEUR}"
APP="${APP:-/srv/app}"
SANTE="${SANTE:-http://127.0.0.1:8080/sante}"

distant() { ssh "$SERVEUR" "cd '$APP' && $*"; }

basculer() {
  distant "sed -i 's/^VERSION=.*/VERSION=$1/' .env && docker compose pull -q && docker compose up -d --remove-orphans"
}

verifier() {
  for _ in $(seq 12); do
    distant "curl -fsS -m 3 '$SANTE'" >/dev/null 2>&1 && return 0
    sleep 5
  done
  return 1
}

if [ "${1:-}" = "--retour" ]; then
  prec="$(distant cat .version-precedente)"
  read -r -p "Revenir à $prec ? [o/N] " rep
  [ "$rep" = o ] || exit 1
  basculer "$prec"; verifier && echo "revenu à $prec"
  exit
fi

V="${1:?étiquette, par exemple v1.8.0}"
git ls-remote --exit-code --tags origin "refs/tags/$V" >/dev/null || { echo "étiquette $V absente du dépôt" >&2; exit 1; }
distant "grep '^VERSION=' .env | cut -d= -f2 > .version-precedente"
distant "mkdir -p sauvegardes && docker compose exec -T base pg_dump -U app -Fc app > sauvegardes/avant-$V.dump"
basculer "$V"
if verifier; then
  echo "$V en service"
else
  basculer "$(distant cat .version-precedente)"
  echo "échec du contrôle, version précédente rétablie" >&2
  exit 1
fi
