#!/usr/bin/env python3
import argparse
import datetime as dt
import json
import socket
import ssl
import sys


def look(target, timeout):
    host, _, port = target.partition(":")
    ctx = ssl.create_default_context()
    with socket.create_connection((host, int(port or 443)), timeout=timeout) as s:
        with ctx.wrap_socket(s, server_hostname=host) as t:
            c = t.getpeercert()
    end = dt.datetime.fromtimestamp(ssl.cert_time_to_seconds(c["notAfter"]), dt.timezone.utc)
    issuer = dict(x[0] for x in c["issuer"])
    return {
        "host": target,
        "expires": end.date().isoformat(),
        "days": (end - dt.datetime.now(dt.timezone.utc)).days,
        "issuer": issuer.get("organizationName") or issuer.get("commonName"),
        "names": [v for k, v in c.get("subjectAltName", ()) if k == "DNS"],
    }


ap = argparse.ArgumentParser()
ap.add_argument("hosts", nargs="*")
ap.add_argument("--file")
ap.add_argument("--warn", type=int, default=21)
ap.add_argument("--timeout", type=float, default=8)
ap.add_argument("--json", action="store_true")
a = ap.parse_args()
hosts = list(a.hosts)
if a.file:
    with open(a.file) as fh:
        hosts += [h for h in (ln.split("#")[0].strip() for ln in fh) if h]
if not hosts:
    ap.error("no hosts")

rc, out = 0, []
for h in hosts:
    try:
        r = look(h, a.timeout)
        if r["days"] < a.warn:
            rc = max(rc, 1)
    except (OSError, ValueError) as e:
        r, rc = {"host": h, "error": str(e)}, 2
    out.append(r)
if a.json:
    print(json.dumps(out, indent=2))
else:
    for r in out:
        if "error" in r:
            print(f"{r['host']:32} ERROR {r['error']}")
        else:
            flag = "WARN" if r["days"] < a.warn else "ok"
            print(f"{r['host']:32} {flag:5} {r['days']:4d} days ({r['expires']})  {r['issuer']}  {len(r['names'])} names")
sys.exit(rc)
