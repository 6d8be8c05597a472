#!/usr/bin/env python3
import argparse
import csv
from collections import defaultdict, deque
from decimal import Decimal as D


def load(path):
    with open(path, newline="") as fh:
        for r in csv.DictReader(fh):
            yield r["date"], r["side"].lower(), r["symbol"].upper(), D(r["quantity"]), D(r["price"]), D(r.get("fee") or "0")


def fifo(rows):
    lots, gains = defaultdict(deque), []
    for date, side, sym, qty, price, fee in sorted(rows):
        if side == "buy":
            lots[sym].append([qty, price + fee / qty])
            continue
        rest, cost = qty, D(0)
        while rest > 0 and lots[sym]:
            lot = lots[sym][0]
            take = min(rest, lot[0])
            cost += take * lot[1]
            lot[0] -= take
            rest -= take
            if lot[0] == 0:
                lots[sym].popleft()
        if rest > 0:
            print(f"warning: {date} sells {rest} {sym} more than held")
        gains.append((date, sym, qty * price - fee - cost))
    return lots, gains


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("csv")
    ap.add_argument("--year")
    ap.add_argument("--reconcile", choices=["none", "quick", "full"], default="none")
    a = ap.parse_args()
    lots, gains = fifo(list(load(a.csv)))
    if a.year:
        rows = [g for g in gains if g[0].startswith(a.year)]
        for d, s, g in rows:
            print(f"{d} {s:<6} {g:>12.2f}")
        print(f"total {sum((g for _, _, g in rows), D(0)):.2f}")
    else:
        for sym, q in sorted(lots.items()):
            qty = sum((x[0] for x in q), D(0))
            if qty:
                avg = sum((x[0] * x[1] for x in q), D(0)) / qty
                print(f"{sym:<6} {qty:>12} average cost {avg:.2f}")
    if a.reconcile != "none":
        import balances
        balances.reconcile({s for s in lots}, deep=a.reconcile == "full")


if __name__ == "__main__":
    main()
