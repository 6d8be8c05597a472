#!/usr/bin/env python3
"""Find free slots in an ICS file (no recurrence rules; times taken as local)."""
import argparse
import datetime as dt
import re


def unfold(text):
    return re.sub(r"\r?\n[ \t]", "", text)


def when(v):
    v = v.rstrip("Z")
    return dt.datetime.strptime(v, "%Y%m%dT%H%M%S") if "T" in v else dt.datetime.strptime(v, "%Y%m%d")


def events(path):
    text = unfold(open(path, encoding="utf-8").read())
    for block in re.findall(r"BEGIN:VEVENT(.*?)END:VEVENT", text, re.S):
        f = dict(re.findall(r"^([A-Z-]+)(?:;[^:\n]*)?:(.*?)\r?$", block, re.M))
        if "DTSTART" in f and f.get("TRANSP") != "TRANSPARENT" and f.get("STATUS") != "CANCELLED":
            s = when(f["DTSTART"])
            yield s, when(f["DTEND"]) if "DTEND" in f else s + dt.timedelta(hours=1)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("ics")
    ap.add_argument("--from", dest="start", default=str(dt.date.today()))
    ap.add_argument("--days", type=int, default=5)
    ap.add_argument("--minutes", type=int, default=30)
    ap.add_argument("--gap", type=int, default=10)
    a = ap.parse_args()
    busy = sorted(events(a.ics))
    need, gap = dt.timedelta(minutes=a.minutes), dt.timedelta(minutes=a.gap)
    day = dt.date.fromisoformat(a.start)
    for _ in range(a.days):
        if day.weekday() < 5:
            t = dt.datetime.combine(day, dt.time(9))
            end = dt.datetime.combine(day, dt.time(17))
            for s, e in [b for b in busy if b[1] > t and b[0] < end] + [(end + gap, end)]:
                if s - gap - t >= need:
                    print(f"{day} {t:%H:%M} - {s - gap:%H:%M}")
                t = max(t, e + gap)
        day += dt.timedelta(days=1)


if __name__ == "__main__":
    main()
