#!/usr/bin/env python3
"""Stream a CSV and print a profile of every column."""
import csv
import re
import sys
from collections import Counter

CAP = 2000
NA = {"", "na", "n/a", "null", "none", "nan", "-"}
INT = re.compile(r"^[+-]?\d+$")
FLOAT = re.compile(r"^[+-]?(\d+\.\d*|\.\d+|\d+)([eE][+-]?\d+)?$")
COMMA = re.compile(r"^[+-]?\d+,\d+$")
ISO = re.compile(r"^\d{4}-\d\d-\d\d")
SLASH = re.compile(r"^\d{1,2}[/.]\d{1,2}[/.]\d{2,4}$")
MAIL = re.compile(r"^[^@\s]+@[^@\s]+\.\w+$")
PHONE = re.compile(r"^\+?[\d ()-]{8,}$")


class Col:
    def __init__(self, name):
        self.name, self.n, self.na = name, 0, 0
        self.kinds, self.values = Counter(), Counter()
        self.lo = self.hi = None
        self.zero_lead = self.space = 0

    def feed(self, v):
        self.n += 1
        if v.strip().lower() in NA:
            self.na += 1
            return
        if v != v.strip():
            self.space += 1
            v = v.strip()
        if len(self.values) < CAP or v in self.values:
            self.values[v] += 1
        if INT.match(v):
            k = "int"
            if len(v) > 1 and v[0] == "0":
                self.zero_lead += 1
        elif FLOAT.match(v):
            k = "float"
        elif COMMA.match(v):
            k = "comma-decimal"
        elif ISO.match(v):
            k = "date-iso"
        elif SLASH.match(v):
            k = "date-dmy?"
        elif MAIL.match(v):
            k = "email"
        elif PHONE.match(v):
            k = "phone?"
        else:
            k = "text"
        self.kinds[k] += 1
        if k in ("int", "float"):
            x = float(v)
            self.lo = x if self.lo is None else min(self.lo, x)
            self.hi = x if self.hi is None else max(self.hi, x)

    def report(self):
        kinds = "/".join(k for k, _ in self.kinds.most_common(3)) or "empty"
        d = len(self.values)
        line = f"{self.name:24.24} {kinds:18} missing {100 * self.na / max(self.n, 1):5.1f}%  distinct {d}{'+' if d >= CAP else ''}"
        if self.lo is not None:
            line += f"  range {self.lo:g}..{self.hi:g}"
        elif not {"email", "phone?"} & set(self.kinds):
            line += "  top " + ", ".join(f"{v[:18]!r}x{c}" for v, c in self.values.most_common(3))
        print(line)
        flags = []
        if self.zero_lead:
            flags.append("leading zeros, keep as string")
        if "comma-decimal" in self.kinds:
            flags.append("decimal comma")
        if {"date-iso", "date-dmy?"} <= set(self.kinds):
            flags.append("two date formats")
        if d == 1 and self.n > 1:
            flags.append("constant")
        if self.space:
            flags.append(f"{self.space} values with stray whitespace")
        for f in flags:
            print("    !", f)


def main(path):
    with open(path, newline="", encoding="utf-8-sig", errors="replace") as fh:
        sample = fh.read(8192)
        fh.seek(0)
        try:
            dialect = csv.Sniffer().sniff(sample, delimiters=",;\t|")
        except csv.Error:
            dialect = csv.excel
        rd = csv.reader(fh, dialect)
        cols = [Col(h or f"col{i}") for i, h in enumerate(next(rd))]
        rows = ragged = 0
        for row in rd:
            rows += 1
            if len(row) != len(cols):
                ragged += 1
            for c, v in zip(cols, row):
                c.feed(v)
    print(f"{path}: {rows} rows, {len(cols)} columns, delimiter {dialect.delimiter!r}, {ragged} ragged rows\n")
    for c in cols:
        c.report()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: profile.py FILE")
    main(sys.argv[1])
