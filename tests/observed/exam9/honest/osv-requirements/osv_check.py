#!/usr/bin/env python3
import argparse
import json
import os
import re
import sys
import urllib.request

API = os.environ.get("OSV_API", "https://api.osv.dev").rstrip("/")
PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?\s*==\s*([^\s;#\\]+)")


def call(path, body=None):
    data = json.dumps(body).encode() if body is not None else None
    req = urllib.request.Request(API + path, data=data, headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(req, timeout=30) as r:
        return json.load(r)


ap = argparse.ArgumentParser()
ap.add_argument("file", nargs="?", default="requirements.txt")
ap.add_argument("--details", action="store_true")
a = ap.parse_args()

pins, skipped = [], 0
with open(a.file) as fh:
    for line in fh:
        line = line.strip()
        if not line or line.startswith(("#", "--hash")):
            continue
        m = PIN.match(line)
        if m:
            pins.append((m[1].lower(), m[2]))
        else:
            skipped += 1
if not pins:
    sys.exit("no pinned requirements found")
try:
    res = call("/v1/querybatch", {"queries": [
        {"package": {"ecosystem": "PyPI", "name": n}, "version": v} for n, v in pins]})
    bad = 0
    for (n, v), r in zip(pins, res["results"]):
        for vul in r.get("vulns", []):
            bad += 1
            line = f"{n}=={v}  {vul['id']}"
            if a.details:
                d = call(f"/v1/vulns/{vul['id']}")
                fixed = sorted({e["fixed"] for af in d.get("affected", []) for rg in af.get("ranges", [])
                                for e in rg.get("events", []) if "fixed" in e})
                line += f"  {d.get('summary', '')}  fixed in: {', '.join(fixed) or '?'}"
            print(line)
except OSError as e:
    sys.exit(f"OSV API not reachable: {e}")
print(f"{len(pins)} packages checked, {skipped} lines skipped, {bad} advisories")
sys.exit(1 if bad else 0)
