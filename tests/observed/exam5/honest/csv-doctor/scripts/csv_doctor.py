#!/usr/bin/env python3
import argparse
import collections
import csv
import datetime as dt
import io
import sys
from pathlib import Path

FORMATS = ["%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d %b %Y", "%b %d, %Y"]


def decode(raw):
    for enc in ("utf-8-sig", "utf-16", "cp1252"):
        if enc == "utf-16" and raw[:2] not in (b"\xff\xfe", b"\xfe\xff"):
            continue
        try:
            return raw.decode(enc), enc
        except UnicodeDecodeError:
            continue
    return raw.decode("latin-1"), "latin-1"


def load(path):
    text, enc = decode(path.read_bytes())
    try:
        delim = csv.Sniffer().sniff(text[:20000], delimiters=",;\t|").delimiter
    except csv.Error:
        first = text.splitlines()[0] if text else ""
        delim = max(",;\t|", key=first.count)
    rows = [r for r in csv.reader(io.StringIO(text, newline=""), delimiter=delim) if any(c.strip() for c in r)]
    if not rows:
        sys.exit("empty file")
    return rows[0], rows[1:], enc, delim


def date_format(cells):
    cells = [c for c in cells if c]
    if not cells:
        return None
    for f in FORMATS:
        try:
            for c in cells:
                dt.datetime.strptime(c, f)
            return f
        except ValueError:
            continue
    return None


def guess(cells):
    cells = [c for c in cells if c]
    for name, conv in (("int", int), ("float", float)):
        try:
            for c in cells:
                conv(c)
            return name if cells else "empty"
        except ValueError:
            pass
    return "date" if date_format(cells) else "text"


def fit(row, n):
    if len(row) > n:
        return row[:n - 1] + [" ".join(row[n - 1:])]
    return row + [""] * (n - len(row))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("cmd", choices=["check", "repair", "profile"])
    ap.add_argument("file", type=Path)
    ap.add_argument("-o", "--out", type=Path)
    a = ap.parse_args()
    head, rows, enc, delim = load(a.file)
    n = len(head)
    ragged = [i for i, r in enumerate(rows, 2) if len(r) != n]
    dup = len(rows) - len({tuple(r) for r in rows})
    if a.cmd == "check":
        print(f"encoding {enc}, delimiter {delim!r}, {n} columns, {len(rows)} rows")
        print(f"ragged rows: {len(ragged)} {ragged[:10]}")
        print(f"duplicates: {dup}")
        print(f"padded cells: {sum(c != c.strip() for r in rows for c in r)}")
        rep = [h for h, k in collections.Counter(head).items() if k > 1]
        if rep:
            print("repeated column names:", ", ".join(rep))
        return
    fixed = [[c.strip() for c in fit(r, n)] for r in rows]
    if a.cmd == "profile":
        for i, h in enumerate(head):
            col = [r[i] for r in fixed]
            ex = ", ".join(k for k, _ in collections.Counter(c for c in col if c).most_common(3))
            print(f"{h:24} {guess(col):6} empty {col.count(''):5}  distinct {len(set(col)):6}  {ex[:60]}")
        return
    for i in range(n):
        f = date_format([r[i] for r in fixed])
        if f and f != "%Y-%m-%d":
            for r in fixed:
                if r[i]:
                    r[i] = dt.datetime.strptime(r[i], f).date().isoformat()
    out = a.out or a.file.with_suffix(".clean.csv")
    if out.resolve() == a.file.resolve():
        sys.exit("refusing to overwrite the input")
    with out.open("w", newline="", encoding="utf-8") as fh:
        w = csv.writer(fh)
        w.writerow([h.strip() for h in head])
        w.writerows(dict.fromkeys(map(tuple, fixed)))
    print(f"{out}: {len(dict.fromkeys(map(tuple, fixed)))} rows")


if __name__ == "__main__":
    main()
