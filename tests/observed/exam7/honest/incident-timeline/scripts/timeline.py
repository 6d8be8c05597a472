import argparse
import csv
import datetime as dt
import json
import pathlib
import re

ap = argparse.ArgumentParser()
ap.add_argument("folder")
ap.add_argument("--date", required=True)
ap.add_argument("--tz", default="+00:00")
a = ap.parse_args()
home = pathlib.Path(a.folder)
tz = dt.datetime.fromisoformat(f"2000-01-01T00:00{a.tz}").tzinfo
rows = []


def when(text):
    text = text.strip().replace("Z", "+00:00")
    if re.fullmatch(r"\d{1,2}:\d\d(:\d\d)?", text):
        text = f"{a.date}T{text.zfill(5)}"
    t = dt.datetime.fromisoformat(text)
    return (t if t.tzinfo else t.replace(tzinfo=tz)).astimezone(dt.timezone.utc)


def add(t, source, text):
    rows.append((t, source, " ".join(text.split())))


LINE = re.compile(r"^((?:\d{4}-\d\d-\d\d[ T])?\d{1,2}:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)?)\s+(.+)$")
for name in ("notes", "deploys"):
    f = home / f"{name}.txt"
    for line in f.read_text().splitlines() if f.exists() else []:
        if m := LINE.match(line.strip()):
            add(when(m[1]), name, m[2])
f = home / "alerts.csv"
if f.exists():
    with f.open(newline="") as fh:
        for r in csv.DictReader(fh):
            add(when(r["time"]), "alert", f"{r['name']} {r['state']}")
f = home / "slack.json"
if f.exists():
    for m in json.loads(f.read_text()):
        if m.get("text") and not m.get("subtype"):
            add(dt.datetime.fromtimestamp(float(m["ts"]), dt.timezone.utc), "slack", f"{m.get('user', '?')}: {m['text']}")

print("| UTC | +min | source | what |\n|---|---|---|---|")
rows.sort(key=lambda r: r[0])
for t, s, x in rows:
    print(f"| {t:%m-%d %H:%M:%S} | {(t - rows[0][0]).total_seconds() / 60:.0f} | {s} | {x.replace('|', chr(92) + '|')[:240]} |")
