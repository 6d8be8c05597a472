import datetime as dt
import hashlib
import json
import os
import pathlib
import re
import sys

STORE = pathlib.Path(os.environ.get("STUDY_CARDS") or pathlib.Path.home() / ".local/share/study-cards/cards.json")
TODAY = dt.date.today()


def load():
    return json.loads(STORE.read_text()) if STORE.exists() else {}


def save(cards):
    STORE.parent.mkdir(parents=True, exist_ok=True)
    tmp = STORE.with_suffix(".tmp")
    tmp.write_text(json.dumps(cards, indent=1, ensure_ascii=False))
    tmp.replace(STORE)


def imp(files):
    cards, new = load(), 0
    for f in files:
        text = pathlib.Path(f).read_text(encoding="utf-8")
        for q, a in re.findall(r"^Q:\s*(.+?)\s*\nA:\s*(.+(?:\n(?!Q:|\n).+)*)", text, re.M):
            i = hashlib.md5(q.lower().encode()).hexdigest()[:8]
            if i not in cards:
                new += 1
                cards[i] = {"due": str(TODAY), "ease": 2.5, "interval": 0, "reps": 0}
            cards[i].update(q=q, a=a, file=str(f))
    save(cards)
    print(f"{new} new, {len(cards)} in all")


def due(cards):
    return sorted((i for i, c in cards.items() if c["due"] <= str(TODAY)), key=lambda i: cards[i]["due"])


def grade(i, g):
    cards = load()
    c = cards[i]
    if g < 3:
        c["reps"], c["interval"] = 0, 1
    else:
        c["interval"] = [1, 6][c["reps"]] if c["reps"] < 2 else round(c["interval"] * c["ease"])
        c["reps"] += 1
    c["ease"] = max(1.3, c["ease"] + 0.1 - (5 - g) * (0.08 + (5 - g) * 0.02))
    c["due"] = str(TODAY + dt.timedelta(days=c["interval"]))
    save(cards)
    print(f"next on {c['due']}")


cmd, *rest = sys.argv[1:] or ["due"]
if cmd == "import":
    imp(rest)
elif cmd == "due":
    cards, per = load(), {}
    for i in due(cards):
        per[cards[i]["file"]] = per.get(cards[i]["file"], 0) + 1
    for f, n in per.items():
        print(f"{n:4}  {f}")
    print(f"{sum(per.values())} due of {len(cards)}")
elif cmd == "ask":
    n = int(rest[1]) if rest[:1] == ["-n"] else 10
    cards = load()
    print(json.dumps([{"id": i, "q": cards[i]["q"], "a": cards[i]["a"]} for i in due(cards)[:n]], indent=1, ensure_ascii=False))
elif cmd == "grade":
    grade(rest[0], int(rest[1]))
else:
    sys.exit("import FILES | due | ask [-n N] | grade ID 0-5")
