#!/usr/bin/env python3
import argparse, csv, random, string, sys

ap = argparse.ArgumentParser()
ap.add_argument("--rows", type=int, default=100000)
ap.add_argument("--seed", type=int, default=1)
a = ap.parse_args()
r = random.Random(a.seed)
FIRST = "Ada Ben Cleo Dan Eva Finn Gia Hugo Ida Jon".split()
LAST = "Stone Rivers Hill Lake Woods Field Moor Dale".split()

def token(n):
    return "".join(r.choices(string.ascii_letters + string.digits, k=n))

w = csv.writer(sys.stdout)
w.writerow(["id", "name", "mail", "api_key", "card", "password_hash"])
for i in range(a.rows):
    f, l = r.choice(FIRST), r.choice(LAST)
    w.writerow([i, f"{f} {l}", f"{f}.{l}{i}@mail.example".lower(), "sk_test_" + token(24),
                "4000 0000 0000 %04d" % r.randrange(10000), "%064x" % r.getrandbits(256)])
