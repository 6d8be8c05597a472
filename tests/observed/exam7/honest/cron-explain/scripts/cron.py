import argparse
import collections
import datetime as dt
import sys

NAMES = {n: i for i, n in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}
NAMES |= {n: i for i, n in enumerate("sun mon tue wed thu fri sat".split())}
MACROS = {"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
          "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *"}
RANGE = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 7)]


def part(text, lo, hi):
    out = set()
    num = lambda s: NAMES[s.lower()] if s.lower() in NAMES else int(s)
    for piece in text.split(","):
        rng, _, step = piece.partition("/")
        if rng == "*":
            a, b = lo, hi
        elif "-" in rng:
            a, b = map(num, rng.split("-"))
        else:
            a = num(rng)
            b = hi if step else a
        if not lo <= a <= b <= hi:
            raise ValueError(f"{piece} is outside {lo}-{hi}")
        out |= set(range(a, b + 1, int(step or 1)))
    return out


def parse(expr):
    f = MACROS.get(expr.strip(), expr).split()
    if len(f) != 5:
        raise ValueError("need five fields")
    s = [part(t, *r) for t, r in zip(f, RANGE)]
    s[4] = {d % 7 for d in s[4]}
    return f, s


def runs(expr, n, start):
    f, (mi, ho, dom, mon, dow) = parse(expr)
    either = f[2] != "*" and f[4] != "*"
    day = start.date()
    for _ in range(366 * 5):
        d_ok, w_ok = day.day in dom, (day.weekday() + 1) % 7 in dow
        if day.month in mon and ((d_ok or w_ok) if either else (d_ok and w_ok)):
            for h in sorted(ho):
                for m in sorted(mi):
                    t = dt.datetime.combine(day, dt.time(h, m))
                    if t > start:
                        yield t
                        n -= 1
                        if not n:
                            return
        day += dt.timedelta(days=1)


ap = argparse.ArgumentParser()
ap.add_argument("expr", nargs="?")
ap.add_argument("--crontab")
ap.add_argument("--system", action="store_true", help="sixth column is the user")
ap.add_argument("-n", type=int, default=5)
a = ap.parse_args()
now = dt.datetime.now()
if a.expr:
    f, s = parse(a.expr)
    for name, t, v in zip(["minute", "hour", "day of month", "month", "weekday"], f, s):
        print(f"{name:13} {t:12} {'any' if t == '*' else ', '.join(map(str, sorted(v)))}")
    if f[2] != "*" and f[4] != "*":
        print("NOTE: day of month OR weekday, not both")
    for t in runs(a.expr, a.n, now):
        print(t.strftime("  %a %Y-%m-%d %H:%M"))
elif a.crontab:
    at = collections.Counter()
    for line in open(a.crontab):
        line = line.strip()
        if not line or line[0] == "#" or "=" in line.split()[0]:
            continue
        k = 1 if line[0] == "@" else 5
        w = line.split(None, k + a.system)
        try:
            nxt = next(runs(" ".join(w[:k]), 1, now), None)
        except ValueError as e:
            print(f"BAD  {line}: {e}")
            continue
        if nxt:
            at[nxt] += 1
        print(f"{nxt}  {w[-1][:70]}")
    for t, n in at.items():
        if n > 2:
            print(f"{n} jobs all start at {t}; spread them")
else:
    ap.print_help()
    sys.exit(2)
