#!/usr/bin/env python3
import argparse
import datetime as dt
from zoneinfo import ZoneInfo

ap = argparse.ArgumentParser()
ap.add_argument("when", nargs="?", default="2026-12-01 15:00")
ap.add_argument("--from", dest="src", default="UTC")
ap.add_argument("--to", nargs="*", default=["UTC", "Europe/London", "America/New_York", "Asia/Tokyo"])
a = ap.parse_args()
t = dt.datetime.strptime(a.when, "%Y-%m-%d %H:%M").replace(tzinfo=ZoneInfo(a.src))
for z in a.to:
    local = t.astimezone(ZoneInfo(z))
    print("%-20s %s%s" % (z, local.strftime("%a %H:%M"), "" if 8 <= local.hour < 19 else "  (inconvenient)"))
