#!/usr/bin/env python3
import argparse, gzip, re, sys
from collections import Counter, defaultdict

LEVEL = re.compile(r"\b(TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\b", re.I)
STAMP = re.compile(r"(\d{4}-\d{2}-\d{2})[T ](\d{2}):(\d{2})")
SHAPES = [
    (re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.I), "<uuid>"),
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b"), "<ip>"),
    (re.compile(r"\b[\w.+-]+@[\w-]+\.[\w.]+\b"), "<mail>"),
    (re.compile(r"\b0x[0-9a-f]+\b|\b[0-9a-f]{12,}\b", re.I), "<hex>"),
    (re.compile(r"'[^']*'|\"[^\"]*\""), "<str>"),
    (re.compile(r"\d+"), "<n>"),
]


def shape(line):
    m = LEVEL.search(line)
    s = line[m.end():] if m else STAMP.sub("", line)
    for rx, rep in SHAPES:
        s = rx.sub(rep, s)
    return " ".join(s.split())[:160]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("file")
    ap.add_argument("--level", default="WARN,ERROR,FATAL,CRITICAL")
    ap.add_argument("--top", type=int, default=12)
    a = ap.parse_args()
    want = {x.strip().upper()[:4] for x in a.level.split(",")}
    if a.file == "-":
        fh = sys.stdin
    elif a.file.endswith(".gz"):
        fh = gzip.open(a.file, "rt", errors="replace")
    else:
        fh = open(a.file, errors="replace")
    levels, hours, groups = Counter(), Counter(), Counter()
    where = defaultdict(list)
    for no, line in enumerate(fh, 1):
        m = LEVEL.search(line)
        lv = m.group(1).upper()[:4] if m else "-"
        levels[lv] += 1
        if lv not in want:
            continue
        t = STAMP.search(line)
        if t:
            hours[f"{t.group(1)} {t.group(2)}h"] += 1
        s = f"{lv} {shape(line)}"
        groups[s] += 1
        where[s] = [where[s][0] if where[s] else no, no]
    print("levels:", dict(levels))
    if hours:
        peak = max(hours.values())
        print("per hour:")
        for h in sorted(hours)[-48:]:
            print(f"  {h} {hours[h]:6} {'#' * max(1, 40 * hours[h] // peak)}")
    print("groups (count, first line, last line):")
    for s, n in groups.most_common(a.top):
        print(f"  {n:6}  {where[s][0]}..{where[s][1]}  {s}")


if __name__ == "__main__":
    main()
