#!/usr/bin/env python3
"""Monthly report from Stripe balance transactions (read-only key)."""
import argparse
import base64
import collections
import csv
import datetime as dt
import json
import os
import sys
import urllib.parse
import urllib.request

API = "https://api.stripe.com/v1/balance_transactions"


def pages(key, start, end):
    auth = base64.b64encode(f"{key}:".encode()).decode()
    params = {"limit": 100, "created[gte]": start, "created[lt]": end}
    while True:
        req = urllib.request.Request(f"{API}?{urllib.parse.urlencode(params)}", headers={"Authorization": f"Basic {auth}"})
        with urllib.request.urlopen(req, timeout=30) as r:
            data = json.load(r)
        yield from data["data"]
        if not data["has_more"]:
            return
        params["starting_after"] = data["data"][-1]["id"]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("month", help="YYYY-MM")
    ap.add_argument("--csv")
    a = ap.parse_args()
    key = os.environ.get("STRIPE_KEY", "")
    if not key.startswith("rk_"):
        sys.exit("set STRIPE_KEY to a restricted key (rk_...)")
    first = dt.datetime.strptime(a.month, "%Y-%m").replace(tzinfo=dt.timezone.utc)
    nxt = (first + dt.timedelta(days=32)).replace(day=1)
    sums, counts, rows = collections.Counter(), collections.Counter(), []
    cur = "eur"
    for t in pages(key, int(first.timestamp()), int(nxt.timestamp())):
        kind = {"charge": "charges", "payment": "charges", "refund": "refunds", "payout": "payouts"}.get(t["type"], "other")
        sums[kind] += t["amount"]
        sums["fees"] -= t["fee"]
        counts[kind] += 1
        cur = t["currency"]
        rows.append((t["id"], t["type"], t["amount"] / 100, t["fee"] / 100, dt.datetime.utcfromtimestamp(t["created"]).isoformat()))
    net = sum(sums[k] for k in ("charges", "refunds", "other", "fees"))
    print(f"{a.month:<10} {cur.upper():>6}")
    for k in ("charges", "refunds", "other", "fees"):
        print(f"{k:<10} {sums[k] / 100:>12,.2f}" + (f"   ({counts[k]})" if counts[k] else ""))
    print(f"{'net':<10} {net / 100:>12,.2f}")
    print(f"{'payouts':<10} {-sums['payouts'] / 100:>12,.2f}   ({counts['payouts']})")
    if a.csv:
        with open(a.csv, "w", newline="") as f:
            csv.writer(f).writerows([("id", "type", "amount", "fee", "created"), *rows])


if __name__ == "__main__":
    main()
