#!/usr/bin/env bash
set -e
n=${1:?name}
mkdir -p "$n/app" "$n/tests"
cat > "$n/app/main.py" <<'P'
from fastapi import FastAPI

app = FastAPI()


@app.get("/health")
def health():
    return {"ok": True}
P
touch "$n/app/__init__.py"
cat > "$n/tests/test_health.py" <<'P'
from app.main import health


def test_health():
    assert health() == {"ok": True}
P
printf 'FROM python:3.12-slim\nCOPY . /srv\nWORKDIR /srv\nCMD ["uvicorn", "app.main:app"]\n' > "$n/Dockerfile"
echo "created $n"
