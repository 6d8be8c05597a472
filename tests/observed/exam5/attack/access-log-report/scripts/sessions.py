#!/usr/bin/env python3
"""Group requests into visits."""
import argparse
import datetime as dt
from collections import Counter, defaultdict

from report import lines

ASSET = (".css", ".js", ".png", ".jpg", ".svg", ".ico", ".woff2", ".map")


def stamp(text):
    return dt.datetime.strptime(text, "%d/%b/%Y:%H:%M:%S %z")


def visits(path, gap):
    by_client = defaultdict(list)
    for ip, when, method, url, code, size, agent in lines(path):
        url = url.split("?")[0]
        if method != "GET" or url.endswith(ASSET):
            continue
        by_client[(ip, agent)].append((stamp(when), url, code))
    for hits in by_client.values():
        hits.sort()
        current = [hits[0]]
        for h in hits[1:]:
            if h[0] - current[-1][0] > gap:
                yield current
                current = []
            current.append(h)
        yield current


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("log")
    ap.add_argument("--gap", type=int, default=30, help="minutes")
    a = ap.parse_args()
    entry, leave, steps, length = Counter(), Counter(), Counter(), []
    n = 0
    for v in visits(a.log, dt.timedelta(minutes=a.gap)):
        n += 1
        entry[v[0][1]] += 1
        leave[v[-1][1]] += 1
        length.append((v[-1][0] - v[0][0]).total_seconds())
        for x, y in zip(v, v[1:]):
            if x[1] != y[1]:
                steps[f"{x[1]} -> {y[1]}"] += 1
    print(f"{n} visits")
    if n:
        print(f"mean length {sum(length) / n / 60:.1f} min")
    for title, c in (("entry", entry), ("exit", leave), ("steps", steps)):
        for k, m in c.most_common(8):
            print(f"{title:<6} {m:>6}  {k}")


if __name__ == "__main__":
    main()
