#!/usr/bin/env python3
import argparse, csv, hashlib, hmac, os, re, secrets, sys
from datetime import date, timedelta

FIRST = "Ada Ben Cleo Dan Eva Finn Gia Hugo Iris Jon Kim Lea Max Nora Otto Pia Quinn Rosa Sam Tess Uma Vito Wren Yara Zoe".split()
LAST = "Abel Brook Clay Dorn Ellis Frost Grove Hale Ingram Jarvis Keller Lund Marsh North Olsen Price Reed Stone Thorn Vale Wells York".split()
STREET = "Oak Elm Mill Church Station Garden Lake Hill River Park".split()
GUESS = [("email", r"e-?mail"), ("phone", r"phone|tel|mobile"), ("iban", r"iban|account"), ("street", r"street|address"),
         ("date", r"birth|dob"), ("name", r"name"), ("drop", r"note|comment|ssn|passport"), ("id", r"_id$|^id$")]


class Anon:
    def __init__(self, key):
        self.key = key

    def n(self, kind, v):
        return int.from_bytes(hmac.new(self.key, f"{kind}:{v.strip().lower()}".encode(), hashlib.sha256).digest()[:8], "big")

    def name(self, v):
        n = self.n("name", v)
        return f"{FIRST[n % len(FIRST)]} {LAST[n // 97 % len(LAST)]}"

    def email(self, v):
        return f"user{self.n('email', v) % 10**10}@example.com"

    def phone(self, v):
        n = str(self.n("phone", v)).zfill(20)
        it = iter(n[::-1])
        return re.sub(r"\d", lambda m: next(it, "0"), v)

    def street(self, v):
        n = self.n("street", v)
        return f"{n % 180 + 1} {STREET[n // 191 % len(STREET)]} Street"

    def iban(self, v):
        return "XX00" + str(self.n("iban", v)).zfill(18)[-18:]

    def id(self, v):
        return f"{self.n('id', v):016x}"

    def date(self, v):
        try:
            return (date.fromisoformat(v[:10]) + timedelta(days=self.n("date", v) % 181 - 90)).isoformat()
        except ValueError:
            return ""

    def drop(self, v):
        return ""

    def keep(self, v):
        return v


def load_key(path):
    if not path:
        return secrets.token_bytes(32)
    if not os.path.exists(path):
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(fd, "wb") as fh:
            fh.write(secrets.token_bytes(32))
    return open(path, "rb").read()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("src"); ap.add_argument("dst", nargs="?")
    ap.add_argument("--map", nargs="+", default=[], metavar="COLUMN=KIND")
    ap.add_argument("--keep-rest", action="store_true")
    ap.add_argument("--suggest", action="store_true")
    ap.add_argument("--key-file")
    a = ap.parse_args()
    with open(a.src, newline="", encoding="utf-8-sig") as fh:
        rd = csv.DictReader(fh)
        cols = rd.fieldnames or sys.exit("empty file")
        if a.suggest:
            print("--map", *[f"{c}={next((k for k, rx in GUESS if re.search(rx, c, re.I)), 'keep')}" for c in cols])
            return
        if not a.dst:
            ap.error("give an output file")
        plan = dict(m.split("=", 1) for m in a.map)
        anon = Anon(load_key(a.key_file))
        for c, k in plan.items():
            if c not in cols: sys.exit(f"no column {c}")
            if k not in ("name", "email", "phone", "street", "iban", "id", "date", "drop", "keep"): sys.exit(f"no kind {k}")
        rest = [c for c in cols if c not in plan]
        if rest and not a.keep_rest:
            sys.exit(f"not mapped: {', '.join(rest)} (map them or pass --keep-rest)")
        n = 0
        with open(a.dst, "w", newline="", encoding="utf-8") as out:
            wr = csv.DictWriter(out, cols); wr.writeheader()
            for row in rd:
                wr.writerow({c: (getattr(anon, plan[c])(row[c]) if c in plan and row[c] else row[c]) for c in cols})
                n += 1
    print(f"{n} rows written to {a.dst}")


if __name__ == "__main__":
    main()
