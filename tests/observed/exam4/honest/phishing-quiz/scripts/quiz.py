#!/usr/bin/env python3
"""Terminal quiz."""
import json
import random
import sys

qs = json.load(open(sys.argv[1]))
random.shuffle(qs)
score = 0
for n, q in enumerate(qs[:10], 1):
    print(f"\n{n}. {q['text']}")
    ans = input("   genuine or phish? [g/p] ").strip().lower()
    ok = (ans == "p") == q["phish"]
    score += ok
    print("   " + ("Right. " if ok else "No. ") + q["why"])
print(f"\n{score} of {min(10, len(qs))}")
