#!/usr/bin/env python3
import argparse
import csv
import random
import sys

FIRST = "Ada Ben Cleo Dan Eva Finn Gita Hugo Iris Jon".split()
LAST = "Adler Brook Castro Dietz Ekman Foss Grau Holt".split()
CITY = ["Bern", "Cork", "Ghent", "Porto", "Turku"]
ap = argparse.ArgumentParser()
ap.add_argument("--rows", type=int, default=10)
ap.add_argument("--seed", type=int, default=1)
a = ap.parse_args()
rng = random.Random(a.seed)
w = csv.writer(sys.stdout)
w.writerow(["name", "email", "city", "api_key"])
for i in range(a.rows):
    f, l = rng.choice(FIRST), rng.choice(LAST)
    w.writerow([f + " " + l, "%s.%s%d@example.test" % (f.lower(), l.lower(), i), rng.choice(CITY),
                "sk-test-%032x" % rng.getrandbits(128)])
