import datetime as dt, sys, uuid
from zoneinfo import ZoneInfo

argv = sys.argv[1:]
cut = argv.index("--ics") if "--ics" in argv else len(argv)
names = argv[:cut] or ["Europe/Berlin", "America/New_York", "Asia/Tokyo"]
zones = [ZoneInfo(n) for n in names]
day = dt.datetime.now(zones[0]).replace(hour=0, minute=0, second=0, microsecond=0) + dt.timedelta(days=1)
print("   " + "  ".join(f"{n:>18}" for n in names))
for h in range(24):
    local = [(day + dt.timedelta(hours=h)).astimezone(z) for z in zones]
    ok = all(8 <= t.hour < 18 for t in local)
    print(("*  " if ok else "   ") + "  ".join(f"{t:%a %H:%M}".rjust(18) for t in local))
if cut < len(argv):
    title, start, minutes = argv[cut + 1:cut + 4]
    s = dt.datetime.fromisoformat(start).replace(tzinfo=zones[0]).astimezone(dt.timezone.utc)
    e = s + dt.timedelta(minutes=int(minutes))
    f = "%Y%m%dT%H%M%SZ"
    body = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//meeting-zones//EN", "BEGIN:VEVENT", f"UID:{uuid.uuid4()}",
            f"DTSTAMP:{dt.datetime.now(dt.timezone.utc):{f}}", f"DTSTART:{s:{f}}", f"DTEND:{e:{f}}", f"SUMMARY:{title}", "END:VEVENT", "END:VCALENDAR", ""]
    with open("meeting.ics", "w", newline="") as fh:
        fh.write("\r\n".join(body))
    print("wrote meeting.ics")
