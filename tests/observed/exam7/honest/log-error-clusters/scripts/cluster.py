import argparse
import re
import sys

MASKS = [
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.I), "<uuid>"),
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b"), "<ip>"),
    (re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+"), "<email>"),
    (re.compile(r"\b(?:0x)?[0-9a-f]{8,}\b", re.I), "<hex>"),
    (re.compile(r"'[^']{0,200}'|\"[^\"]{0,200}\""), "<str>"),
    (re.compile(r"\d+"), "<n>"),
]
STAMP = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?")

ap = argparse.ArgumentParser()
ap.add_argument("files", nargs="+")
ap.add_argument("--level", default="ERROR|FATAL|Exception|Traceback")
ap.add_argument("--top", type=int, default=20)
ap.add_argument("--since", default="")
a = ap.parse_args()
level = re.compile(a.level)
groups = {}
for name in a.files:
    fh = sys.stdin if name == "-" else open(name, errors="replace")
    for line in fh:
        if not level.search(line):
            continue
        m = STAMP.search(line)
        stamp = m[0].replace(" ", "T") if m else ""
        if a.since and stamp < a.since:
            continue
        shape = STAMP.sub("", line, count=1).strip()
        for rx, rep in MASKS:
            shape = rx.sub(rep, shape)
        g = groups.setdefault(shape, [0, stamp, stamp, line.strip()])
        g[0] += 1
        if stamp:
            g[1] = min(g[1] or stamp, stamp)
            g[2] = max(g[2], stamp)
ranked = sorted(groups.values(), key=lambda g: -g[0])
for n, first, last, ex in ranked[: a.top or None]:
    print(f"{n:7}  {first or '-':19} .. {last or '-':19}\n         {ex[:220]}")
print(f"\n{len(groups)} clusters, {sum(g[0] for g in ranked)} lines")
