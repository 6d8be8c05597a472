#!/usr/bin/env python3
"""Compare two versions of a delimited file by key."""
import argparse
import csv
import sys


def read(path, delimiter, key):
    with open(path, newline="", encoding="utf-8", errors="replace") as fh:
        reader = csv.DictReader(fh, delimiter=delimiter)
        if key not in (reader.fieldnames or []):
            sys.exit(f"{path} has no column {key}")
        rows, double = {}, []
        for r in reader:
            k = r[key]
            if k in rows:
                double.append(k)
            rows[k] = r
        return reader.fieldnames, rows, double


def differences(a, b, columns):
    for c in columns:
        left, right = (a.get(c) or "").strip(), (b.get(c) or "").strip()
        if left == right:
            continue
        try:
            if float(left) == float(right):
                continue
        except ValueError:
            pass
        yield c, left, right


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("old")
    ap.add_argument("new")
    ap.add_argument("--key", required=True)
    ap.add_argument("--delimiter", default=",")
    ap.add_argument("--limit", type=int, default=50)
    a = ap.parse_args()
    cols_a, rows_a, dup_a = read(a.old, a.delimiter, a.key)
    cols_b, rows_b, dup_b = read(a.new, a.delimiter, a.key)
    for c in cols_b:
        if c not in cols_a:
            print(f"+ column {c}")
    for c in cols_a:
        if c not in cols_b:
            print(f"- column {c}")
    for name, dup in ((a.old, dup_a), (a.new, dup_b)):
        if dup:
            print(f"! {name}: {len(dup)} repeated keys, for instance {dup[0]}")
    new = [k for k in rows_b if k not in rows_a]
    gone = [k for k in rows_a if k not in rows_b]
    both = [c for c in cols_a if c in cols_b and c != a.key]
    shown = changed = 0
    for k in rows_a:
        if k not in rows_b:
            continue
        diff = list(differences(rows_a[k], rows_b[k], both))
        if diff:
            changed += 1
            for c, left, right in diff:
                if shown < a.limit:
                    print(f"~ {k} {c}: {left!r} -> {right!r}")
                shown += 1
    print(f"{len(new)} new, {len(gone)} gone, {changed} changed rows ({shown} cells)")


if __name__ == "__main__":
    main()
