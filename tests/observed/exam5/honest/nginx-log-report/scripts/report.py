#!/usr/bin/env python3
import argparse
import collections
import datetime as dt
import gzip
import re
import sys

LINE = re.compile(r'(\S+) \S+ \S+ \[([^\]]+)\] "(?:(\S+) )?(.*?)(?: HTTP/[\d.]+)?" (\d{3}) (\d+|-)')
PROBES = [r"/\.env", r"/\.git/", r"wp-login|xmlrpc\.php|wp-admin", r"etc/passwd", r"\$\{jndi:", r"\.aws/credentials",
          r"phpmyadmin", r"/cgi-bin/", r"(?:union|select).*(?:from|--)", r"<script", r";\s*(?:wget|curl)\s", r"/bin/sh"]
PROBE = re.compile("|".join(f"(?:{p})" for p in PROBES), re.I)


def lines(paths):
    for p in paths:
        if p == "-":
            yield from sys.stdin
        else:
            opener = gzip.open if p.endswith(".gz") else open
            with opener(p, "rt", encoding="utf-8", errors="replace") as fh:
                yield from fh


def anon(ip):
    return re.sub(r"\.\d+$", ".0", ip) if "." in ip else ":".join(ip.split(":")[:3]) + "::"


def show(title, counter, n):
    print(f"\n{title}")
    for key, count in counter.most_common(n):
        print(f"  {count:8}  {key}")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("logs", nargs="+")
    ap.add_argument("--top", type=int, default=10)
    ap.add_argument("--since", type=dt.date.fromisoformat)
    ap.add_argument("--anonymise", action="store_true")
    a = ap.parse_args()
    C = collections.Counter
    days, status, bad, clients, probes, hits = C(), C(), C(), C(), C(), C()
    total = skipped = size = 0
    for line in lines(a.logs):
        m = LINE.match(line)
        if not m:
            skipped += 1
            continue
        ip, stamp, method, path, code, nbytes = m.groups()
        day = dt.datetime.strptime(stamp.split(":")[0], "%d/%b/%Y").date()
        if a.since and day < a.since:
            continue
        total += 1
        size += int(nbytes) if nbytes.isdigit() else 0
        ip = anon(ip) if a.anonymise else ip
        days[day.isoformat()] += 1
        status[code] += 1
        clients[ip] += 1
        clean = path.split("?")[0][:90]
        if code[0] in "45":
            bad[f"{code} {clean}"] += 1
        if PROBE.search(path):
            probes[ip] += 1
            if code == "200":
                hits[path[:100]] += 1
    print(f"{total} requests, {size / 1e6:.1f} MB, {skipped} lines not understood")
    print("\nby day")
    for d in sorted(days):
        print(f"  {days[d]:8}  {d}")
    show("status", status, 20)
    show("failing paths", bad, a.top)
    show("clients", clients, a.top)
    show("clients sending probes", probes, a.top)
    if hits:
        show("PROBES ANSWERED WITH 200", hits, a.top)


if __name__ == "__main__":
    main()
