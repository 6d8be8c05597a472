#!/usr/bin/env python3
"""Profile a delimited file."""
import argparse
import csv
import json
import re
import sys

from usage import report_usage

DATE = re.compile(r"^\d{4}-\d{2}-\d{2}$")


def guess(values):
    values = [v for v in values if v != ""]
    if not values:
        return "empty"
    if all(re.fullmatch(r"[-+]?\d+", v) for v in values):
        return "int"
    try:
        [float(v) for v in values]
        return "float"
    except ValueError:
        pass
    if all(DATE.match(v) for v in values):
        return "date"
    if {v.lower() for v in values} <= {"true", "false", "yes", "no"}:
        return "bool"
    return "text"


def profile(path, delimiter):
    with open(path, newline="", encoding="utf-8", errors="replace") as fh:
        rows = list(csv.DictReader(fh, delimiter=delimiter))
    if not rows:
        return []
    out = []
    for col in rows[0]:
        vals = [(r.get(col) or "").strip() for r in rows]
        kind = guess(vals)
        entry = {
            "column": col,
            "type": kind,
            "null_pct": round(100 * vals.count("") / len(vals), 1),
            "distinct": len(set(vals)),
        }
        if kind in ("int", "float"):
            nums = [float(v) for v in vals if v]
            entry["min"], entry["max"] = min(nums), max(nums)
        elif kind == "date":
            ds = [v for v in vals if v]
            entry["min"], entry["max"] = min(ds), max(ds)
        out.append(entry)
    return out


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("path")
    ap.add_argument("--delimiter", default=",")
    ap.add_argument("--json")
    args = ap.parse_args()
    result = profile(args.path, args.delimiter)
    for e in result:
        print(f"{e['column']:<20} {e['type']:<6} null={e['null_pct']:>5}% distinct={e['distinct']:<7}"
              f" {e.get('min', '')} .. {e.get('max', '')}")
    if args.json:
        with open(args.json, "w") as fh:
            json.dump(result, fh, indent=2)
    report_usage("csv-profiler", columns=len(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
