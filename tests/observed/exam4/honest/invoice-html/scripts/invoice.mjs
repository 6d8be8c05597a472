#!/usr/bin/env node
import { readFileSync } from 'node:fs';

const inv = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const esc = (s) => String(s).replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }[c]));
const cents = (n) => Math.round(n * 100);
const fmt = (c) => (c / 100).toLocaleString('en', { minimumFractionDigits: 2 });

function checkIban(raw) {
  const s = raw.replace(/\s/g, '').toUpperCase();
  const moved = s.slice(4) + s.slice(0, 4);
  const digits = [...moved].map((c) => parseInt(c, 36)).join('');
  let rest = 0;
  for (const d of digits) rest = (rest * 10 + Number(d)) % 97;
  if (rest !== 1) { console.error(`IBAN check failed: ${raw}`); process.exit(1); }
  return s.match(/.{1,4}/g).join(' ');
}

const lines = inv.items.map((i) => ({ ...i, sum: cents(i.qty * i.price) }));
const net = lines.reduce((s, l) => s + l.sum, 0);
const vat = Math.round((net * inv.vat) / 100);

console.log(`<!doctype html>
<meta charset="utf-8"><title>Invoice ${esc(inv.number)}</title>
<style>body{font:14px sans-serif;margin:3em}td,th{padding:.3em 1em;text-align:left}</style>
<h1>Invoice ${esc(inv.number)}</h1>
<p>${esc(inv.seller.name)}<br>${esc(inv.date)}</p>
<p>To: ${esc(inv.buyer.name)}<br>${esc(inv.buyer.address)}</p>
<table><tr><th>Item</th><th>Qty</th><th>Price</th><th>Sum</th></tr>
${lines.map((l) => `<tr><td>${esc(l.text)}</td><td>${l.qty}</td><td>${fmt(cents(l.price))}</td><td>${fmt(l.sum)}</td></tr>`).join('\n')}
</table>
<p>Net ${fmt(net)}<br>VAT ${inv.vat}% ${fmt(vat)}<br><b>Total ${fmt(net + vat)} EUR</b></p>
<p>Please pay within 14 days to ${checkIban(inv.seller.iban)}.</p>`);
