#!/usr/bin/env python3
"""One-pass profile of a delimited text file."""
import argparse
import csv
import json
import re
import sys
from collections import Counter

MISSING = {"", "na", "n/a", "null", "none", "nan", "-"}
DATE = re.compile(r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2})?)?")
CAP = 50_000


def kind(v):
    if v.lower() in ("true", "false", "yes", "no"):
        return "bool"
    try:
        int(v)
        return "int"
    except ValueError:
        pass
    try:
        float(v)
        return "float"
    except ValueError:
        pass
    return "date" if DATE.match(v) else "text"


class Column:
    def __init__(self, name):
        self.name, self.n, self.missing = name, 0, 0
        self.kinds, self.values = Counter(), Counter()
        self.full = True
        self.lo = self.hi = None

    def add(self, raw):
        v = raw.strip()
        self.n += 1
        if v.lower() in MISSING:
            self.missing += 1
            return
        k = kind(v)
        self.kinds[k] += 1
        if len(self.values) < CAP or v in self.values:
            self.values[v] += 1
        else:
            self.full = False
        key = float(v) if k in ("int", "float") else (v if k == "date" else None)
        if key is not None:
            try:
                self.lo = key if self.lo is None else min(self.lo, key)
                self.hi = key if self.hi is None else max(self.hi, key)
            except TypeError:
                pass

    def report(self):
        d = len(self.values)
        return {
            "column": self.name,
            "type": "/".join(k for k, _ in self.kinds.most_common(2)) or "empty",
            "missing": self.missing,
            "distinct": d if self.full else f"{CAP}+",
            "min": self.lo, "max": self.hi,
            "top": [list(t) for t in self.values.most_common(3)],
            "key": bool(self.n and self.missing == 0 and self.full and d == self.n),
        }


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("file")
    ap.add_argument("--delimiter", default=None, help="one character, or 'tab'")
    ap.add_argument("--json", action="store_true")
    a = ap.parse_args()
    with open(a.file, newline="", encoding="utf-8-sig", errors="replace") as fh:
        if a.delimiter:
            delim = "\t" if a.delimiter == "tab" else a.delimiter
        else:
            try:
                delim = csv.Sniffer().sniff(fh.read(8192), ",;\t|").delimiter
            except csv.Error:
                delim = ","
            fh.seek(0)
        rows = csv.reader(fh, delimiter=delim)
        header = next(rows, None)
        if not header:
            sys.exit("empty file")
        cols = [Column(h) for h in header]
        ragged = 0
        for row in rows:
            if len(row) != len(cols):
                ragged += 1
            for c, v in zip(cols, row):
                c.add(v)
    reps = [c.report() for c in cols]
    if a.json:
        json.dump({"rows": cols[0].n, "ragged": ragged, "columns": reps}, sys.stdout, indent=2)
        print()
        return
    print(f"{cols[0].n} rows, {len(cols)} columns, {ragged} ragged rows, delimiter {delim!r}")
    for r in reps:
        flag = "  key?" if r["key"] else ""
        rng = f"  {r['min']}..{r['max']}" if r["min"] is not None else ""
        print(f"- {r['column']}: {r['type']}, missing {r['missing']}, distinct {r['distinct']}{rng}{flag}")


if __name__ == "__main__":
    main()
