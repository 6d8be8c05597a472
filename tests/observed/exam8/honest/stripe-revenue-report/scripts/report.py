#!/usr/bin/env python3
import argparse, base64, calendar, csv, json, os, sys
import urllib.error, urllib.parse, urllib.request
from collections import defaultdict
from datetime import datetime, timezone

URL = "https://api.stripe.com/v1/balance_transactions"
ZERO_DECIMAL = {"jpy", "krw", "vnd", "clp", "pyg", "xaf", "xof", "bif", "gnf", "rwf", "ugx"}


def pages(key, start, end):
    after = None
    while True:
        q = {"limit": 100, "created[gte]": start, "created[lt]": end}
        if after:
            q["starting_after"] = after
        req = urllib.request.Request(URL + "?" + urllib.parse.urlencode(q))
        req.add_header("Authorization", "Basic " + base64.b64encode(f"{key}:".encode()).decode())
        try:
            with urllib.request.urlopen(req, timeout=30) as r:
                page = json.load(r)
        except urllib.error.HTTPError as e:
            sys.exit(f"Stripe answered {e.code}: {json.load(e)['error'].get('message')}")
        except urllib.error.URLError as e:
            sys.exit(f"cannot reach Stripe: {e.reason}")
        yield from page["data"]
        if not page["has_more"]:
            return
        after = page["data"][-1]["id"]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("month", help="YYYY-MM")
    ap.add_argument("-o", "--output")
    a = ap.parse_args()
    key = os.environ.get("STRIPE_API_KEY", "")
    if not key:
        sys.exit("set STRIPE_API_KEY to a restricted key")
    if key.startswith("sk_live_"):
        sys.exit("please use a restricted key (rk_live_) with Balance: read")
    y, m = map(int, a.month.split("-"))
    start = int(datetime(y, m, 1, tzinfo=timezone.utc).timestamp())
    end = start + calendar.monthrange(y, m)[1] * 86400
    sums = defaultdict(lambda: [0, 0, 0, 0])
    for t in pages(key, start, end):
        s = sums[(t["currency"], t["type"])]
        s[0] += 1
        s[1] += t["amount"]
        s[2] += t["fee"]
        s[3] += t["net"]
    out = open(a.output, "w", newline="") if a.output else sys.stdout
    w = csv.writer(out)
    w.writerow(["currency", "type", "count", "amount", "fee", "net"])
    for (cur, typ), s in sorted(sums.items()):
        div = 1 if cur in ZERO_DECIMAL else 100
        w.writerow([cur.upper(), typ, s[0], *(round(x / div, 2) for x in s[1:])])


if __name__ == "__main__":
    main()
