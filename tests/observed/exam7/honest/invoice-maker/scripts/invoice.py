#!/usr/bin/env python3
import datetime
import html
import json
import pathlib
import re
import sys
from decimal import Decimal, ROUND_HALF_UP

HERE = pathlib.Path(__file__).resolve().parent.parent
CENT = Decimal("0.01")


def money(x):
    return x.quantize(CENT, rounding=ROUND_HALF_UP)


def esc(s):
    return html.escape(str(s)).replace("\n", "<br>")


def next_number(folder):
    nums = [int(m[1]) for p in pathlib.Path(folder).glob("*.json") if (m := re.match(r"\d{4}-(\d+)$", p.stem))]
    return f"{datetime.date.today().year}-{max(nums, default=0) + 1:03d}"


def render(src):
    me = json.loads((HERE / "assets" / "me.json").read_text())
    inv = json.loads(src.read_text())
    day = datetime.date.fromisoformat(inv.get("date", datetime.date.today().isoformat()))
    due = day + datetime.timedelta(days=me["payment_days"])
    rows, net, vats = [], Decimal(0), {}
    for l in inv["lines"]:
        amount = money(Decimal(str(l["qty"])) * Decimal(l["price"]))
        rate = Decimal(0) if inv.get("reverse_charge") else Decimal(str(l.get("vat", me["default_vat"])))
        net += amount
        vats[rate] = vats.get(rate, Decimal(0)) + amount
        rows.append(f"<tr><td>{esc(l['text'])}<td>{l['qty']}<td>{l['price']}<td>{rate}%<td>{amount}</tr>")
    vat_rows, total = "", net
    for rate, base in sorted(vats.items()):
        v = money(base * rate / 100)
        total += v
        vat_rows += f"<tr><td colspan=4>VAT {rate}% on {base}<td>{v}</tr>"
    note = "<p>VAT reverse charged.</p>" if inv.get("reverse_charge") else ""
    return f"""<!doctype html><meta charset=utf-8><title>Invoice {src.stem}</title>
<style>body{{font:14px sans-serif;max-width:44em;margin:3em auto}}table{{width:100%;border-collapse:collapse}}
td,th{{padding:.4em;border-bottom:1px solid #ddd;text-align:left}}td:last-child{{text-align:right}}</style>
<p><b>{esc(me['name'])}</b><br>{esc(me['address'])}<br>VAT {esc(me['vat_id'])}</p>
<p>{esc(inv['client']['name'])}<br>{esc(inv['client']['address'])}<br>{esc(inv['client'].get('vat_id', ''))}</p>
<h1>Invoice {src.stem}</h1><p>Date {day} &middot; due {due}</p>
<table><tr><th>Description<th>Qty<th>Price<th>VAT<th>Amount</tr>{''.join(rows)}
<tr><td colspan=4>Subtotal<td>{net}</tr>{vat_rows}<tr><td colspan=4><b>Total {me['currency']}</b><td><b>{total}</b></tr></table>
{note}<p>Please pay to {esc(me['iban'])} quoting {src.stem}.</p>"""


if len(sys.argv) == 3 and sys.argv[1] == "--next":
    print(next_number(sys.argv[2]))
elif len(sys.argv) == 2:
    p = pathlib.Path(sys.argv[1])
    out = p.with_suffix(".html")
    out.write_text(render(p))
    print(out)
else:
    sys.exit("usage: invoice.py FILE.json | --next FOLDER")
