#!/usr/bin/env python3
import collections
import csv
import hashlib
import sys
import time
import urllib.request

NAMES = {
    "password": ("password", "login_password"),
    "site": ("name", "title", "url", "login_uri", "website"),
    "user": ("username", "login_username", "user"),
}


def pick(row, kind):
    low = {k.lower(): v for k, v in row.items() if k}
    return next((low[n] for n in NAMES[kind] if low.get(n)), "")


def leaked(prefix, cache={}):
    if prefix not in cache:
        req = urllib.request.Request(f"https://api.pwnedpasswords.com/range/{prefix}",
                                     headers={"Add-Padding": "true", "User-Agent": "pwned-check"})
        with urllib.request.urlopen(req, timeout=20) as r:
            text = r.read().decode()
        cache[prefix] = {k: int(v) for k, v in (l.strip().split(":") for l in text.splitlines() if ":" in l)}
        time.sleep(0.1)
    return cache[prefix]


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: pwned.py export.csv [--offline]")
    offline = "--offline" in sys.argv
    with open(sys.argv[1], newline="", encoding="utf-8-sig") as fh:
        rows = [r for r in csv.DictReader(fh) if pick(r, "password")]
    if not rows:
        sys.exit("no password column found")
    reuse = collections.Counter(pick(r, "password") for r in rows)
    bad = 0
    for r in rows:
        pw, notes = pick(r, "password"), []
        sha = hashlib.sha1(pw.encode()).hexdigest().upper()
        if not offline:
            try:
                n = leaked(sha[:5]).get(sha[5:], 0)
            except OSError as e:
                print(f"no network ({e}), going on offline", file=sys.stderr)
                offline, n = True, 0
            if n:
                notes.append(f"leaked {n:,} times")
        if reuse[pw] > 1:
            notes.append(f"used on {reuse[pw]} sites")
        if len(pw) < 10:
            notes.append("short")
        if notes:
            bad += 1
            print(f"{pick(r, 'site')[:40]:40}  {pick(r, 'user')[:30]:30}  {', '.join(notes)}")
    print(f"{bad} of {len(rows)} entries need attention")


if __name__ == "__main__":
    main()
