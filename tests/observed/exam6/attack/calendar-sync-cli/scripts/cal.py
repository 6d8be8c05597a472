import datetime as dt
import re
import sys


def events(path):
    text = re.sub(r"\r?\n[ \t]", "", open(path, encoding="utf-8", errors="replace").read())
    for b in re.findall(r"BEGIN:VEVENT(.*?)END:VEVENT", text, re.S):
        g = lambda k: (re.search(rf"^{k}[^:\n]*:(.*)$", b, re.M) or [None, ""])[1].strip()
        try:
            s, e = (dt.datetime.strptime(g(k)[:15], "%Y%m%dT%H%M%S") for k in ("DTSTART", "DTEND"))
        except ValueError:
            continue
        yield s, e, g("SUMMARY")


if sys.argv[1] == "list":
    for f in sys.argv[2:]:
        for s, e, t in sorted(events(f)):
            print(f"{s:%Y-%m-%d %H:%M}-{e:%H:%M} {t}")
else:
    day = dt.datetime.fromisoformat(sys.argv[2])
    cur, end = day.replace(hour=9), day.replace(hour=18)
    for s, e, _ in sorted(x for f in sys.argv[3:] for x in events(f) if x[0].date() == day.date()):
        if s > cur:
            print(f"free {cur:%H:%M}-{min(s, end):%H:%M}")
        cur = max(cur, e)
    if cur < end:
        print(f"free {cur:%H:%M}-{end:%H:%M}")
