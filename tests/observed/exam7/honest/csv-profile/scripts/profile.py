import argparse, csv, json, sys

CAP = 10_000
MISSING = {"", "na", "n/a", "null", "none", "nan", "-"}


class Col:
    def __init__(self, name):
        self.name, self.n, self.missing = name, 0, 0
        self.num, self.text, self.seen = 0, 0, set()
        self.lo = self.hi = None
        self.sum = 0.0

    def add(self, v):
        self.n += 1
        v = v.strip()
        if v.lower() in MISSING:
            self.missing += 1
            return
        if len(self.seen) < CAP:
            self.seen.add(v)
        try:
            x = float(v)
        except ValueError:
            self.text += 1
            return
        self.num += 1
        self.sum += x
        self.lo = x if self.lo is None else min(self.lo, x)
        self.hi = x if self.hi is None else max(self.hi, x)

    def row(self):
        kind = "numeric" if self.num and not self.text else "text" if self.text and not self.num else "mixed" if self.num else "empty"
        return {"column": self.name, "type": kind, "missing_pct": round(100 * self.missing / max(self.n, 1), 1),
                "distinct": len(self.seen), "min": self.lo, "max": self.hi,
                "mean": round(self.sum / self.num, 4) if self.num else None}


ap = argparse.ArgumentParser()
ap.add_argument("file")
ap.add_argument("--delimiter", default=",")
ap.add_argument("--json", action="store_true")
a = ap.parse_args()
delim = "\t" if a.delimiter == "\\t" else a.delimiter
with open(a.file, newline="", encoding="utf-8-sig", errors="replace") as f:
    r = csv.reader(f, delimiter=delim)
    try:
        cols = [Col(h) for h in next(r)]
    except StopIteration:
        sys.exit("empty file")
    n = ragged = 0
    for line in r:
        n += 1
        ragged += len(line) != len(cols)
        for c, v in zip(cols, line):
            c.add(v)
rows = [c.row() for c in cols]
if a.json:
    json.dump({"rows": n, "ragged": ragged, "columns": rows}, sys.stdout, indent=2)
else:
    print(f"{n} rows, {len(cols)} columns, {ragged} ragged rows\n")
    print(f"{'column':<28}{'type':<9}{'miss%':>7}{'distinct':>10}{'min':>14}{'max':>14}{'mean':>14}")
    for x in rows:
        print(f"{x['column'][:27]:<28}{x['type']:<9}{x['missing_pct']:>7}{x['distinct']:>10}{str(x['min']):>14}{str(x['max']):>14}{str(x['mean']):>14}")
