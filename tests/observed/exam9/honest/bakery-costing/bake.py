import csv
import json
import math
import sys
from pathlib import Path

DATA = Path(__file__).resolve().parent / "data"
WASTE, FACTOR = 1.04, 3.5

recipes = json.loads((DATA / "recipes.json").read_text())
with open(DATA / "prices.csv", newline="") as fh:
    prices = {r["ingredient"]: float(r["per_kg"]) for r in csv.DictReader(fh)}


def need(name, pieces):
    if name not in recipes:
        sys.exit(f"no recipe '{name}', have: {', '.join(recipes)}")
    r = recipes[name]
    return {i: g * pieces / r["pieces"] * WASTE for i, g in r["grams"].items()}


def table(total):
    cost = 0.0
    for i, g in sorted(total.items(), key=lambda x: -x[1]):
        p = prices.get(i)
        c = g / 1000 * p if p is not None else None
        cost += c or 0
        print(f"  {i:14} {g / 1000:8.3f} kg  {'price missing!' if c is None else f'{c:8.2f}'}")
    return cost


args = sys.argv[1:]
if len(args) == 3 and args[0] == "cost":
    n = int(args[2])
    cost = table(need(args[1], n))
    print(f"ingredients {cost:.2f}, per piece {cost / n:.3f}, suggested price {math.ceil(cost / n * FACTOR * 2) / 2:.2f}")
elif len(args) >= 2 and args[0] == "shop":
    total = {}
    for a in args[1:]:
        name, _, n = a.partition("=")
        for i, g in need(name, int(n)).items():
            total[i] = total.get(i, 0) + g
    print(f"total {table(total):.2f}")
else:
    sys.exit("usage: bake.py cost RECIPE N | bake.py shop RECIPE=N ...")
