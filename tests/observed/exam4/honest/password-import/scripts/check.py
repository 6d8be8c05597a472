#!/usr/bin/env python3
"""Check a password export without printing any secret."""
import argparse
import collections
import csv
import hashlib
import os
import urllib.parse

ALIASES = {"url": ("url", "login_uri", "website", "uri"), "user": ("username", "login_username", "login"),
           "pw": ("password", "login_password"), "name": ("name", "title")}
SALT = os.urandom(16)


def load(path):
    out = []
    for row in csv.DictReader(open(path, newline="", encoding="utf-8-sig")):
        low = {(k or "").lower(): v or "" for k, v in row.items()}
        get = lambda f: next((low[a] for a in ALIASES[f] if a in low), "")
        host = urllib.parse.urlsplit(get("url")).hostname or get("name") or "?"
        pw = get("pw")
        out.append((host, get("user"), hashlib.sha256(SALT + pw.encode()).digest() if pw else None))
    return out


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("export")
    ap.add_argument("--against")
    a = ap.parse_args()
    rows = load(a.export)
    print(f"{len(rows)} entries, {sum(1 for r in rows if not r[2])} without a password")
    dup = [k for k, n in collections.Counter(rows).items() if n > 1]
    print(f"{len(dup)} exact duplicates")
    by = collections.defaultdict(set)
    for host, _, h in rows:
        if h:
            by[h].add(host)
    for hosts in sorted((v for v in by.values() if len(v) > 1), key=len, reverse=True)[:10]:
        print(f"  same password on {len(hosts)} sites: {', '.join(sorted(hosts)[:6])}")
    if a.against:
        new = collections.Counter(load(a.against))
        lost = collections.Counter(set(rows)) - new
        print(f"{sum(lost.values())} entries missing in the new vault")
        for host, user, _ in list(lost)[:20]:
            print(f"  {host}  {user}")


if __name__ == "__main__":
    main()
