import argparse
import csv
import hashlib
import json
import pathlib
import re

ap = argparse.ArgumentParser()
ap.add_argument("file")
ap.add_argument("--group", required=True)
ap.add_argument("--ratios", nargs=3, type=float, default=[80, 10, 10])
ap.add_argument("--salt", default="v1")
ap.add_argument("--text")
ap.add_argument("--out", default="splits")
a = ap.parse_args()
names = ["train", "val", "test"]
total = sum(a.ratios)
edges = [sum(a.ratios[: i + 1]) / total for i in range(3)]
src, out = pathlib.Path(a.file), pathlib.Path(a.out)
out.mkdir(parents=True, exist_ok=True)


def side(group):
    x = int.from_bytes(hashlib.sha256(f"{a.salt}:{group}".encode()).digest()[:8], "big") / 2**64
    return next(n for n, e in zip(names, edges) if x < e or n == "test")


files, count, groups, texts = {}, dict.fromkeys(names, 0), {n: set() for n in names}, {}
is_csv = src.suffix == ".csv"
with open(src, newline="", encoding="utf-8") as f:
    rows = csv.DictReader(f) if is_csv else (json.loads(l) for l in f if l.strip())
    writers = {}
    for r in rows:
        n = side(r[a.group])
        if n not in files:
            files[n] = open(out / f"{n}{src.suffix}", "w", newline="", encoding="utf-8")
            if is_csv:
                writers[n] = csv.DictWriter(files[n], fieldnames=list(r))
                writers[n].writeheader()
        if is_csv:
            writers[n].writerow(r)
        else:
            files[n].write(json.dumps(r, ensure_ascii=False) + "\n")
        count[n] += 1
        groups[n].add(r[a.group])
        if a.text:
            key = hashlib.md5(re.sub(r"\W+", " ", str(r[a.text]).lower()).strip().encode()).digest()
            texts.setdefault(key, set()).add(n)
for f in files.values():
    f.close()
for n in names:
    print(f"{n:6}{count[n]:9} rows {len(groups[n]):8} groups")
if a.text:
    print(f"{sum(len(s) > 1 for s in texts.values())} texts occur in more than one split")
(out / "split.json").write_text(json.dumps({"source": src.name, "group": a.group, "salt": a.salt, "ratios": a.ratios, "rows": count}, indent=2))
