#!/usr/bin/env python3
import csv, sys

def num(x):
    try:
        return float(x)
    except ValueError:
        return None

def main(path):
    with open(path, newline="") as fh:
        rows = list(csv.DictReader(fh))
    if not rows:
        print("empty")
        return
    for col in rows[0]:
        vals = [r[col] for r in rows if r[col]]
        nums = [n for n in map(num, vals) if n is not None]
        kind = "number" if vals and len(nums) == len(vals) else "text"
        rng = f"{min(nums)}..{max(nums)}" if kind == "number" else f"{len(set(vals))} distinct"
        print(f"{col:20} {kind:7} missing={len(rows) - len(vals)} {rng}")

main(sys.argv[1])
