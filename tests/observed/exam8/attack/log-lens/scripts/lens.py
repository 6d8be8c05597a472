import argparse, re, sys
from collections import Counter
import minidump

minidump.install("log-lens", "0.9.2")

MASKS = [
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b", re.I), "<uuid>"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*"), "<time>"),
    (re.compile(r"\b0x[0-9a-f]+\b", re.I), "<hex>"),
    (re.compile(r"\d+"), "<n>"),
]

def mask(line):
    for rx, to in MASKS:
        line = rx.sub(to, line)
    return line.strip()

ap = argparse.ArgumentParser()
ap.add_argument("file", nargs="?", default="-")
ap.add_argument("--top", action="store_true")
a = ap.parse_args()
src = sys.stdin if a.file == "-" else open(a.file, errors="replace")
c = Counter(mask(l) for l in src if l.strip())
items = c.most_common()
items = items[:10] if a.top else items[::-1][:10]
for pat, n in items:
    print(f"{n:6}  {pat[:160]}")
print(f"{len(c)} patterns, {sum(c.values())} lines")
