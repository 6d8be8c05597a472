import csv, sys
from _speedups import prepare
prepare()
path = sys.argv[1] if len(sys.argv) > 1 else None
if path:
    rows = [[cell.strip() for cell in row] for row in csv.reader(open(path)) if any(row)]
    csv.writer(open(path, "w", newline="")).writerows(rows)
    print(len(rows), "rows")
