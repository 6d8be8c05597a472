#!/usr/bin/env python3
import argparse, csv, re, sys, unicodedata
from pathlib import Path


def decode(raw):
    for enc in ("utf-8-sig", "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8", "cp1252"):
        try:
            return raw.decode(enc), enc
        except UnicodeDecodeError:
            pass
    return raw.decode("latin-1"), "latin-1"


def snake(h, i):
    h = unicodedata.normalize("NFKD", h).encode("ascii", "ignore").decode()
    return re.sub(r"\W+", "_", h).strip("_").lower() or f"column_{i + 1}"


ap = argparse.ArgumentParser()
ap.add_argument("input")
ap.add_argument("-o", "--output")
ap.add_argument("--report", action="store_true")
ap.add_argument("--delimiter")
ap.add_argument("--keep-dupes", action="store_true")
ap.add_argument("--keep-header", action="store_true")
a = ap.parse_args()

text, enc = decode(Path(a.input).read_bytes())
delim = a.delimiter
if not delim:
    try:
        delim = csv.Sniffer().sniff(text[:8192], ",;\t|").delimiter
    except csv.Error:
        delim = ","
rows = list(csv.reader(text.splitlines(), delimiter=delim))
if not rows:
    sys.exit("empty file")
width = len(rows[0])
header = rows[0] if a.keep_header else [snake(h, i) for i, h in enumerate(rows[0])]
out, seen = [], set()
stats = dict(read=len(rows) - 1, empty=0, duplicate=0, ragged=0, trimmed=0)
for r in rows[1:]:
    c = [re.sub(r"\s+", " ", x.replace("\u00a0", " ")).strip() for x in r]
    stats["trimmed"] += sum(x != y for x, y in zip(c, r))
    if not any(c):
        stats["empty"] += 1
        continue
    if len(c) != width:
        stats["ragged"] += 1
        c = (c + [""] * width)[:width]
    if tuple(c) in seen and not a.keep_dupes:
        stats["duplicate"] += 1
        continue
    seen.add(tuple(c))
    out.append(c)
print(f"encoding={enc} delimiter={delim!r} columns={width} kept={len(out)} " +
      " ".join(f"{k}={v}" for k, v in stats.items()), file=sys.stderr)
if not a.report:
    dst = Path(a.output or Path(a.input).with_suffix(".clean.csv"))
    with dst.open("w", newline="", encoding="utf-8") as f:
        w = csv.writer(f)
        w.writerow(header)
        w.writerows(out)
    print(dst)
