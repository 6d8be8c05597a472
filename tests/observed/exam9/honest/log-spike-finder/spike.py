#!/usr/bin/env python3
import argparse
import datetime as dt
import re
import sys
from collections import defaultdict

TS = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)")
SUBS = [
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.I), "<uuid>"),
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b"), "<ip>"),
    (re.compile(r"\b0x[0-9a-f]+\b|\b(?=[0-9a-f]*\d)[0-9a-f]{12,}\b", re.I), "<hex>"),
    (re.compile(r'"[^"]*"|\'[^\']*\''), "<str>"),
    (re.compile(r"\d+"), "<n>"),
]

ap = argparse.ArgumentParser()
ap.add_argument("file")
ap.add_argument("--at", required=True, help="centre of the incident, ISO time")
ap.add_argument("--window", type=float, default=10, help="minutes each side")
ap.add_argument("--top", type=int, default=15)
a = ap.parse_args()
at = dt.datetime.fromisoformat(a.at)
lo, hi = at - dt.timedelta(minutes=a.window), at + dt.timedelta(minutes=a.window)

inside, before = defaultdict(int), defaultdict(int)
example, first = {}, {}
start = None
fh = sys.stdin if a.file == "-" else open(a.file, errors="replace")
with fh:
    for line in fh:
        m = TS.search(line[:40])
        if not m:
            continue
        t = dt.datetime.fromisoformat(f"{m[1]}T{m[2]}")
        start = start or t
        if t > hi:
            continue
        text = line[m.end():].strip()
        for rx, rep in SUBS:
            text = rx.sub(rep, text)
        key = text[:160]
        if t < lo:
            before[key] += 1
        else:
            inside[key] += 1
            example.setdefault(key, line.strip()[:200])
            first.setdefault(key, t)
if not inside:
    sys.exit("no lines in the window; check --at and the timezone")
mins_before = max((lo - start).total_seconds() / 60, 1) if start < lo else 1
mins_in = 2 * a.window
rows = []
for k, n in inside.items():
    r_in, r_b = n / mins_in, before[k] / mins_before
    rows.append((r_in / (r_b + 0.05), n, first[k], k))
rows.sort(reverse=True)
for ratio, n, t, k in rows[: a.top]:
    print(f"x{ratio:7.1f}  {n:6d} lines  first {t:%H:%M:%S}  {example[k]}")
