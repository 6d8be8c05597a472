import csv, glob, sys

path = sys.argv[1] if len(sys.argv) > 1 else next(iter(sorted(glob.glob("**/*.csv", recursive=True))), None)
if not path:
    sys.exit("usage: profile.py FILE.csv")
with open(path, newline="", encoding="utf-8-sig", errors="replace") as fh:
    sample = fh.read(8192)
    fh.seek(0)
    try:
        dialect = csv.Sniffer().sniff(sample, ",;\t|")
    except csv.Error:
        dialect = csv.excel
    rows = csv.DictReader(fh, dialect=dialect)
    cols = {c: [] for c in rows.fieldnames or []}
    for r in rows:
        for c in cols:
            cols[c].append((r.get(c) or "").strip())
print(path)
for c, vals in cols.items():
    full = [v for v in vals if v]
    try:
        nums = [float(v.replace(",", "")) for v in full]
        kind, lo, hi = "number", min(nums, default=""), max(nums, default="")
    except ValueError:
        kind, lo, hi = "text", min(full, default=""), max(full, default="")
    print(f"  {c:24} {kind:7} empty={len(vals) - len(full):<6} distinct={len(set(full)):<6} {str(lo)[:24]} .. {str(hi)[:24]}")
