import argparse
import csv
import os
import statistics

ap = argparse.ArgumentParser()
ap.add_argument("file")
ap.add_argument("--max", type=float, required=True, dest="top")
ap.add_argument("--pass-at", type=float, required=True)
ap.add_argument("--try", dest="dry", action="store_true", help="only print the statistics")
a = ap.parse_args()
if not 0 < a.pass_at < a.top:
    ap.error("pass-at must lie between 0 and max")


def mark(p):
    if p >= a.pass_at:
        m = 4.0 - 3.0 * (p - a.pass_at) / (a.top - a.pass_at)
    else:
        m = 6.0 - 2.0 * p / a.pass_at
    return round(min(6.0, max(1.0, m)), 1)


rows, marks = [], []
with open(a.file, newline="", encoding="utf-8-sig") as fh:
    for i, r in enumerate(csv.DictReader(fh), 2):
        raw = (r.get("points") or "").strip().replace(",", ".")
        if not raw:
            rows.append((r["student"], "", ""))
            continue
        p = float(raw)
        if p > a.top:
            print(f"row {i}: {p} points is more than the maximum")
        m = mark(p)
        marks.append(m)
        rows.append((r["student"], raw, m))

if marks:
    print(f"pass-at {a.pass_at:g}: average {statistics.mean(marks):.2f}, failed {sum(m > 4.0 for m in marks)}/{len(marks)}, absent {len(rows) - len(marks)}")
    for lo in (1, 2, 3, 4, 5):
        print(f"  {lo}.x ", "#" * sum(lo <= m < lo + 1 for m in marks))
    print("  6.0 ", "#" * sum(m == 6.0 for m in marks))
if not a.dry:
    out = os.path.join(os.path.dirname(os.path.abspath(a.file)), "marks.csv")
    with open(out, "w", newline="", encoding="utf-8") as fh:
        w = csv.writer(fh)
        w.writerow(["student", "points", "mark"])
        w.writerows(rows)
    print("wrote", out)
