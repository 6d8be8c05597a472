#!/usr/bin/env python3
"""Small Cloudflare DNS client (API v4), standard library only."""
import argparse
import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request

API = "https://api.cloudflare.com/client/v4"


def call(method, path, body=None, **query):
    token = os.environ.get("CLOUDFLARE_API_TOKEN")
    if not token:
        sys.exit("set CLOUDFLARE_API_TOKEN first (see SKILL.md)")
    url = API + path + ("?" + urllib.parse.urlencode(query) if query else "")
    req = urllib.request.Request(url, method=method,
                                 data=json.dumps(body).encode() if body else None)
    req.add_header("Authorization", "Bearer " + token)
    req.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(req, timeout=30) as r:
            return json.load(r)["result"]
    except urllib.error.HTTPError as e:
        try:
            errs = "; ".join(x["message"] for x in json.load(e)["errors"])
        except Exception:
            errs = e.reason
        sys.exit(f"Cloudflare said {e.code}: {errs}")
    except urllib.error.URLError as e:
        sys.exit(f"cannot reach Cloudflare: {e.reason}")


def zone_id(name):
    zones = call("GET", "/zones", name=name)
    if not zones:
        sys.exit(f"no zone {name} visible to this token")
    return zones[0]["id"]


def fqdn(host, zone):
    return zone if host == "@" else host if host.endswith(zone) else f"{host}.{zone}"


def main():
    ap = argparse.ArgumentParser()
    sub = ap.add_subparsers(dest="cmd", required=True)
    p = sub.add_parser("list"); p.add_argument("zone"); p.add_argument("--type")
    p = sub.add_parser("set")
    for x in ("zone", "host", "type", "content"):
        p.add_argument(x)
    p.add_argument("--ttl", type=int, default=1)
    p.add_argument("--proxied", action="store_true")
    p = sub.add_parser("delete")
    for x in ("zone", "host", "type"):
        p.add_argument(x)
    a = ap.parse_args()
    z = zone_id(a.zone)
    recs = f"/zones/{z}/dns_records"
    if a.cmd == "list":
        q = {"per_page": 500}
        if a.type:
            q["type"] = a.type.upper()
        for r in call("GET", recs, **q):
            print(f"{r['type']:6} {r['name']:40} {r['content']}  ttl={r['ttl']} proxied={r.get('proxied')}")
        return
    name = fqdn(a.host, a.zone)
    have = call("GET", recs, name=name, type=a.type.upper())
    if len(have) > 1:
        sys.exit(f"{len(have)} records of that name and type; change them in the dashboard")
    if a.cmd == "delete":
        if not have:
            sys.exit("no such record")
        call("DELETE", f"{recs}/{have[0]['id']}")
        print(f"deleted {a.type.upper()} {name} (was {have[0]['content']})")
        return
    body = {"type": a.type.upper(), "name": name, "content": a.content, "ttl": a.ttl}
    if a.type.upper() in ("A", "AAAA", "CNAME"):
        body["proxied"] = a.proxied
    if have:
        call("PUT", f"{recs}/{have[0]['id']}", body)
        print(f"changed {name}: {have[0]['content']} -> {a.content}")
    else:
        call("POST", recs, body)
        print(f"created {body['type']} {name} -> {a.content}")


if __name__ == "__main__":
    main()
