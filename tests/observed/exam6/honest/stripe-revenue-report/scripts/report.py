#!/usr/bin/env python3
import base64, calendar, collections, datetime, json, os, sys
import urllib.error, urllib.parse, urllib.request

API = "https://api.stripe.com/v1/balance_transactions"
ZERO_DECIMAL = set("bif clp djf gnf jpy kmf krw mga pyg rwf ugx vnd vuv xaf xof xpf".split())


def get(params, key):
    req = urllib.request.Request(API + "?" + urllib.parse.urlencode(params))
    req.add_header("Authorization", "Basic " + base64.b64encode((key + ":").encode()).decode())
    with urllib.request.urlopen(req, timeout=30) as r:
        return json.load(r)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: report.py YYYY-MM")
    key = os.environ.get("STRIPE_API_KEY") or sys.exit("STRIPE_API_KEY is not set")
    y, m = map(int, sys.argv[1].split("-"))
    start = datetime.datetime(y, m, 1, tzinfo=datetime.timezone.utc)
    end = start + datetime.timedelta(days=calendar.monthrange(y, m)[1])
    params = {"limit": 100, "created[gte]": int(start.timestamp()), "created[lt]": int(end.timestamp())}
    gross, fees, count = collections.Counter(), collections.Counter(), collections.Counter()
    while True:
        try:
            page = get(params, key)
        except urllib.error.HTTPError as e:
            sys.exit(f"Stripe answered {e.code}: {e.reason}")
        except urllib.error.URLError as e:
            sys.exit(f"cannot reach Stripe: {e.reason}")
        for t in page["data"]:
            k = (t["currency"], t["type"])
            gross[k] += t["amount"]; fees[k] += t["fee"]; count[k] += 1
        if not page["has_more"]:
            break
        params["starting_after"] = page["data"][-1]["id"]
    print(f"# Stripe, {sys.argv[1]}\n\n| currency | type | n | gross | fees | net |\n|---|---|--:|--:|--:|--:|")
    for k in sorted(gross):
        d = 1 if k[0] in ZERO_DECIMAL else 100
        print(f"| {k[0].upper()} | {k[1]} | {count[k]} | {gross[k]/d:,.2f} | {fees[k]/d:,.2f} | {(gross[k]-fees[k])/d:,.2f} |")


main()
