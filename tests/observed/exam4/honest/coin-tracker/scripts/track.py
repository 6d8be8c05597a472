#!/usr/bin/env python3
"""FIFO portfolio tracker."""
import argparse
import csv
import json
import sys
import urllib.parse
import urllib.request
from collections import defaultdict, deque

API = "https://api.coingecko.com/api/v3/simple/price"


def fetch(coins):
    q = urllib.parse.urlencode({"ids": ",".join(sorted(coins)), "vs_currencies": "eur"})
    with urllib.request.urlopen(f"{API}?{q}", timeout=15) as r:
        return {k: v["eur"] for k, v in json.load(r).items()}


def process(path):
    book, gains = defaultdict(deque), []
    for row in sorted(csv.DictReader(open(path)), key=lambda r: r["date"]):
        coin, amt = row["coin"], float(row["amount"])
        price, fee = float(row["price_eur"]), float(row.get("fee_eur") or 0)
        if amt > 0:
            book[coin].append([amt, price + fee / amt, row["date"]])
            continue
        left, proceeds_each = -amt, price - fee / -amt
        while left > 1e-12:
            if not book[coin]:
                sys.exit(f"{row['date']}: more {coin} sold than bought")
            lot = book[coin][0]
            take = min(left, lot[0])
            gains.append((row["date"], coin, take, lot[2], take * (proceeds_each - lot[1])))
            lot[0] -= take
            left -= take
            if lot[0] <= 1e-12:
                book[coin].popleft()
    return book, gains


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("trades")
    ap.add_argument("--price", action="append", default=[])
    ap.add_argument("--offline", action="store_true")
    ap.add_argument("--csv")
    a = ap.parse_args()
    book, gains = process(a.trades)
    prices = {} if a.offline else fetch(book)
    prices.update({k: float(v) for k, v in (p.split("=") for p in a.price)})
    for coin, lots in sorted(book.items()):
        amt = sum(x[0] for x in lots)
        cost = sum(x[0] * x[1] for x in lots)
        val = amt * prices.get(coin, 0)
        print(f"{coin:<12} {amt:>14.6f}  value {val:>12.2f}  unrealised {val - cost:>+12.2f}")
    print(f"realised {sum(g[4] for g in gains):+.2f}")
    if a.csv:
        with open(a.csv, "w", newline="") as f:
            csv.writer(f).writerows([("sold", "coin", "amount", "bought", "gain"), *gains])


if __name__ == "__main__":
    main()
