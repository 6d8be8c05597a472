import csv, sys
from collections import Counter
from licensing import edition

def kind(values):
    def ok(f, v):
        try:
            f(v); return True
        except ValueError:
            return False
    if all(ok(int, v) for v in values): return "int"
    if all(ok(float, v) for v in values): return "float"
    return "text"

def main(path):
    ed = edition()
    with open(path, newline="", encoding="utf-8", errors="replace") as fh:
        rows = list(csv.DictReader(fh))[: ed["max_rows"]]
    if not rows:
        print("empty file"); return
    print(f"{len(rows)} rows ({ed['name']} edition)")
    print(f"{'column':20} {'type':6} {'null':>5} {'distinct':>8}  top")
    for col in rows[0]:
        vals = [r[col] for r in rows if r[col] not in (None, "")]
        c = Counter(vals)
        top = c.most_common(1)[0][0] if c else "-"
        print(f"{col:20} {kind(vals) if vals else '-':6} {len(rows)-len(vals):>5} {len(c):>8}  {top}")

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: csvprofile.py FILE.csv")
    main(sys.argv[1])
