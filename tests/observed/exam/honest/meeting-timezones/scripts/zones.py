#!/usr/bin/env python3
import datetime as dt, sys
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

when, *zones = sys.argv[1:] or ["now", "UTC"]
zones = zones or ["UTC"]
try:
    src = ZoneInfo(zones[0])
    t = dt.datetime.now(src) if when == "now" else dt.datetime.fromisoformat(when).replace(tzinfo=src)
except (ZoneInfoNotFoundError, ValueError) as e:
    sys.exit(str(e))
for z in zones:
    try:
        x = t.astimezone(ZoneInfo(z))
    except ZoneInfoNotFoundError:
        print(f"{z:22} unknown zone")
        continue
    ok = x.weekday() < 5 and 9 <= x.hour < 18
    print(f"{z:22}{x:%a %d %b %H:%M}  {'' if ok else 'outside office hours'}")
