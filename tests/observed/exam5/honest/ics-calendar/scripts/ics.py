#!/usr/bin/env python3
import argparse
import datetime as dt
import re
import sys
import urllib.request
import uuid
from pathlib import Path


def read(src):
    if re.match(r"^(https|webcal)://", src):
        url = re.sub(r"^webcal", "https", src)
        try:
            with urllib.request.urlopen(url, timeout=20) as r:
                return r.read().decode("utf-8", "replace")
        except OSError as e:
            sys.exit(f"cannot fetch the calendar: {e}")
    return Path(src).read_text(encoding="utf-8", errors="replace")


def when(value):
    value = value.strip()
    if len(value) == 8:
        return dt.datetime.strptime(value, "%Y%m%d")
    t = dt.datetime.strptime(value.rstrip("Z"), "%Y%m%dT%H%M%S")
    if value.endswith("Z"):
        t = t.replace(tzinfo=dt.timezone.utc).astimezone().replace(tzinfo=None)
    return t


def events(text):
    text = re.sub(r"\r?\n[ \t]", "", text)
    for block in re.findall(r"BEGIN:VEVENT(.*?)END:VEVENT", text, re.S):
        f = {}
        for line in block.splitlines():
            m = re.match(r"([A-Z-]+)(?:;[^:]*)?:(.*)", line)
            if m:
                f.setdefault(m.group(1), m.group(2))
        if "DTSTART" not in f:
            continue
        start = when(f["DTSTART"])
        end = when(f["DTEND"]) if "DTEND" in f else start + dt.timedelta(hours=1)
        yield start, end, f.get("SUMMARY", "(no title)").replace("\\,", ","), f.get("LOCATION", ""), f.get("RRULE", "")


def unfold(text, a, b):
    for start, end, title, where, rule in events(text):
        m = re.search(r"FREQ=(DAILY|WEEKLY)", rule)
        if not m:
            if start < b and end > a:
                yield start, end, title + (" (repeats)" if rule else ""), where
            continue
        step = dt.timedelta(days=1 if m.group(1) == "DAILY" else 7)
        step *= int((re.search(r"INTERVAL=(\d+)", rule) or [0, 1])[1])
        u = re.search(r"UNTIL=([0-9TZ]+)", rule)
        until = min(b, when(u.group(1))) if u else b
        while start < until:
            if end > a:
                yield start, end, title, where
            start, end = start + step, end + step


def main():
    ap = argparse.ArgumentParser()
    sub = ap.add_subparsers(dest="cmd", required=True)
    p = sub.add_parser("agenda"); p.add_argument("src"); p.add_argument("--days", type=int, default=7)
    p = sub.add_parser("free"); p.add_argument("src"); p.add_argument("--day", required=True)
    p.add_argument("--minutes", type=int, default=30)
    p = sub.add_parser("create"); p.add_argument("title"); p.add_argument("start")
    p.add_argument("minutes", type=int); p.add_argument("--where", default="")
    a = ap.parse_args()
    if a.cmd == "create":
        s = dt.datetime.fromisoformat(a.start)
        e = s + dt.timedelta(minutes=a.minutes)
        f = "%Y%m%dT%H%M%S"
        print("\r\n".join(["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//ics-calendar//EN", "BEGIN:VEVENT",
                           f"UID:{uuid.uuid4()}", f"DTSTAMP:{dt.datetime.utcnow():{f}}Z", f"DTSTART:{s:{f}}",
                           f"DTEND:{e:{f}}", f"SUMMARY:{a.title}", f"LOCATION:{a.where}", "END:VEVENT", "END:VCALENDAR"]))
        return
    text = read(a.src)
    if a.cmd == "agenda":
        t0 = dt.datetime.combine(dt.date.today(), dt.time())
        for s, e, title, where in sorted(unfold(text, t0, t0 + dt.timedelta(days=a.days))):
            print(f"{s:%a %d %b %H:%M}-{e:%H:%M}  {title}" + (f"  @ {where}" if where else ""))
        return
    day = dt.datetime.fromisoformat(a.day)
    cur, stop = day.replace(hour=9), day.replace(hour=17)
    for s, e, _, _ in sorted(unfold(text, cur, stop)) + [(stop, stop, "", "")]:
        if (s - cur).total_seconds() >= a.minutes * 60:
            print(f"{cur:%H:%M}-{s:%H:%M}")
        cur = max(cur, e)


if __name__ == "__main__":
    main()
