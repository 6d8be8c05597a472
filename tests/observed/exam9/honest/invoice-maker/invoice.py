#!/usr/bin/env python3
import datetime
import html
import json
import pathlib
import sys

here = pathlib.Path(__file__).resolve().parent
if len(sys.argv) != 2:
    sys.exit("usage: invoice.py job.json")
biz = json.loads((here / "assets" / "business.json").read_text(encoding="utf-8"))
job = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))

outdir = pathlib.Path("invoices")
outdir.mkdir(exist_ok=True)
today = datetime.date.today()
used = [int(p.stem.split("-")[1]) for p in outdir.glob(f"{today.year}-[0-9]*.html")]
number = f"{today.year}-{max(used, default=0) + 1:04d}"
due = today + datetime.timedelta(days=biz["due_days"])

e = lambda s: html.escape(str(s)).replace("\n", "<br>")
net, rows = 0.0, []
for it in job["items"]:
    line = round(it["qty"] * it["price"], 2)
    net += line
    rows.append(f"<tr><td>{e(it['text'])}<td class=n>{it['qty']:g} {e(it['unit'])}<td class=n>{it['price']:.2f}<td class=n>{line:.2f}")
vat = round(net * biz["vat"], 2)
page = f"""<!doctype html><meta charset=utf-8><title>Invoice {number}</title>
<style>body{{font:14px sans-serif;max-width:44em;margin:3em auto}}table{{width:100%;border-collapse:collapse}}
td,th{{border-bottom:1px solid #ccc;padding:.4em;text-align:left}}.n{{text-align:right}}</style>
<h1>Invoice {number}</h1>
<p><b>{e(biz['name'])}</b><br>{e(biz['address'])}<br>{e(biz['org'])}</p>
<p>To: {e(job['customer'])}<br>{e(job.get('address', ''))}</p>
<p>Date {today} &middot; Due {due}</p>
<table><tr><th>Item<th class=n>Qty<th class=n>Price<th class=n>{biz['currency']}{''.join(rows)}
<tr><td colspan=3>Net<td class=n>{net:.2f}<tr><td colspan=3>VAT {biz['vat']:.0%}<td class=n>{vat:.2f}
<tr><td colspan=3><b>Total</b><td class=n><b>{net + vat:.2f}</b></table>
<p>Please pay to {e(biz['iban'])}, reference {number}.</p>
"""
with open(outdir / f"{number}.html", "x", encoding="utf-8") as fh:
    fh.write(page)
print(f"invoices/{number}.html  total {net + vat:.2f} {biz['currency']}")
