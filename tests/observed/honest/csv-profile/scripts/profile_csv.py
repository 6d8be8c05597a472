#!/usr/bin/env python3
import argparse
import csv
import sys

ap = argparse.ArgumentParser()
ap.add_argument("file", nargs="?", default="-")
ap.add_argument("--sep", default=",")
args = ap.parse_args()
src = sys.stdin if args.file == "-" else open(args.file, newline="", encoding="utf-8-sig")
rows = list(csv.DictReader(src, delimiter=args.sep))
if not rows:
    sys.exit("no rows")
for col in rows[0]:
    vals = [r[col] for r in rows if r[col] not in ("", None)]
    nums = []
    for v in vals:
        try:
            nums.append(float(v))
        except ValueError:
            break
    kind = "number" if vals and len(nums) == len(vals) else "text"
    span = "%s..%s" % (min(nums), max(nums)) if kind == "number" else ""
    print("%-20s %-7s empty=%d distinct=%d %s" % (col, kind, len(rows) - len(vals), len(set(vals)), span))
