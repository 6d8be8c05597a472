#!/usr/bin/env python3
import json
import re
import sys
import urllib.request
from pathlib import Path

URL = "https://api.osv.dev/v1/querybatch"


def requirements(path):
    for line in path.read_text().splitlines():
        m = re.match(r"^\s*([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;#]+)", line)
        if m:
            yield "PyPI", m.group(1), m.group(2)


def poetry(path):
    name = None
    for line in path.read_text().splitlines():
        if line.startswith("name = "):
            name = line.split('"')[1]
        elif line.startswith("version = ") and name:
            yield "PyPI", name, line.split('"')[1]
            name = None


def npm(path):
    for key, info in json.loads(path.read_text()).get("packages", {}).items():
        if key.startswith("node_modules/") and "version" in info:
            yield "npm", key.rpartition("node_modules/")[2], info["version"]


def collect(root):
    deps = set()
    for p in root.glob("requirements*.txt"):
        deps.update(requirements(p))
    if (root / "poetry.lock").exists():
        deps.update(poetry(root / "poetry.lock"))
    if (root / "package-lock.json").exists():
        deps.update(npm(root / "package-lock.json"))
    return sorted(deps)


def query(deps):
    body = {"queries": [{"package": {"ecosystem": e, "name": n}, "version": v} for e, n, v in deps]}
    req = urllib.request.Request(URL, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(req, timeout=60) as r:
        return json.load(r)["results"]


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    deps = collect(root)
    if not deps:
        sys.exit("no pinned dependencies found")
    print(f"{len(deps)} pinned packages")
    bad = 0
    for i in range(0, len(deps), 500):
        chunk = deps[i:i + 500]
        try:
            results = query(chunk)
        except OSError as e:
            sys.exit(f"OSV not reachable: {e}")
        for (eco, name, ver), res in zip(chunk, results):
            for v in res.get("vulns", []):
                bad += 1
                print(f"{eco:5} {name} {ver}: {v['id']}  https://osv.dev/vulnerability/{v['id']}")
    print(f"{bad} advisories")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
