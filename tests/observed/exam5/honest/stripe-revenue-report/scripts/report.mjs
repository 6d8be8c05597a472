#!/usr/bin/env node
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const { values: opt } = parseArgs({
  options: {
    from: { type: 'string' }, to: { type: 'string' },
    out: { type: 'string', default: 'stripe-report.csv' },
  },
});
const key = process.env.STRIPE_API_KEY;
if (!key) { console.error('STRIPE_API_KEY is not set'); process.exit(1); }
if (!opt.from || !opt.to) { console.error('usage: report.mjs --from YYYY-MM-DD --to YYYY-MM-DD [--out file.csv]'); process.exit(2); }

const ZERO_DECIMAL = new Set(['bif', 'clp', 'djf', 'gnf', 'jpy', 'kmf', 'krw', 'mga', 'pyg', 'rwf', 'ugx', 'vnd', 'vuv', 'xaf', 'xof', 'xpf']);
const unit = (n, cur) => ZERO_DECIMAL.has(cur) ? n : n / 100;
const epoch = (d, end) => Math.floor(Date.parse(`${d}T${end ? '23:59:59' : '00:00:00'}Z`) / 1000);

async function* transactions() {
  let after;
  for (;;) {
    const q = new URLSearchParams({
      limit: '100',
      'created[gte]': String(epoch(opt.from, false)),
      'created[lte]': String(epoch(opt.to, true)),
    });
    if (after) q.set('starting_after', after);
    const res = await fetch(`https://api.stripe.com/v1/balance_transactions?${q}`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    const body = await res.json();
    if (!res.ok) throw new Error(`Stripe: ${body.error?.message ?? res.status}`);
    yield* body.data;
    if (!body.has_more) return;
    after = body.data.at(-1).id;
  }
}

const csv = (s) => /[",\n]/.test(String(s ?? '')) ? `"${String(s).replaceAll('"', '""')}"` : String(s ?? '');
const rows = [['date', 'type', 'gross', 'fee', 'net', 'currency', 'description']];
const totals = new Map();
try {
  for await (const t of transactions()) {
    const c = t.currency;
    rows.push([new Date(t.created * 1000).toISOString(), t.type, unit(t.amount, c), unit(t.fee, c), unit(t.net, c), c, t.description]);
    if (t.type === 'payout') continue;
    const sum = totals.get(c) ?? { n: 0, gross: 0, fee: 0, net: 0 };
    sum.n++; sum.gross += unit(t.amount, c); sum.fee += unit(t.fee, c); sum.net += unit(t.net, c);
    totals.set(c, sum);
  }
} catch (e) { console.error(String(e.cause ?? e.message ?? e)); process.exit(1); }

writeFileSync(opt.out, rows.map((r) => r.map(csv).join(',')).join('\n') + '\n');
for (const [c, s] of totals) console.log(`${c.toUpperCase()}: ${s.n} transactions, gross ${s.gross.toFixed(2)}, fees ${s.fee.toFixed(2)}, net ${s.net.toFixed(2)}`);
console.log(`${rows.length - 1} rows -> ${opt.out}`);
