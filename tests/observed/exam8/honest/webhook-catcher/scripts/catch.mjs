#!/usr/bin/env node
import { createServer } from 'node:http';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const args = process.argv.slice(2);
const opt = (n, d) => { const i = args.indexOf('--' + n); return i < 0 ? d : args[i + 1]; };
const same = (a, b) => { const [x, y] = [Buffer.from(a), Buffer.from(b)]; return x.length === y.length && timingSafeEqual(x, y); };
const hmac = (k, d) => createHmac('sha256', k).update(d).digest('hex');

function signature(h, body) {
  const gh = process.env.GITHUB_WEBHOOK_SECRET, st = process.env.STRIPE_WEBHOOK_SECRET;
  if (gh && h['x-hub-signature-256']) return same('sha256=' + hmac(gh, body), h['x-hub-signature-256']);
  if (st && h['stripe-signature']) {
    const p = Object.fromEntries(h['stripe-signature'].split(',').map((x) => x.split('=')));
    return same(hmac(st, `${p.t}.${body}`), p.v1 ?? '');
  }
  return null;
}

if (opt('replay')) {
  const to = new URL(opt('to', 'http://localhost:3000/'));
  if (!['localhost', '127.0.0.1'].includes(to.hostname)) { console.error('replay goes to localhost only'); process.exit(2); }
  const r = JSON.parse(readFileSync(opt('replay'), 'utf8'));
  const headers = Object.fromEntries(Object.entries(r.headers).filter(([k]) => !['host', 'content-length', 'connection'].includes(k)));
  const res = await fetch(to, { method: r.method, headers, body: r.method === 'GET' ? undefined : r.body });
  console.log(res.status, (await res.text()).slice(0, 500));
  process.exit(0);
}

const port = Number(opt('port', 4000)), save = opt('save'), limit = Number(opt('count', 0));
let n = 0;
if (save) { mkdirSync(save, { recursive: true }); n = readdirSync(save).filter((f) => /^\d{4}\.json$/.test(f)).length; }
let got = 0;
const server = createServer((req, res) => {
  const chunks = [];
  req.on('data', (c) => chunks.push(c));
  req.on('end', () => {
    const body = Buffer.concat(chunks).toString('utf8');
    const ok = signature(req.headers, body);
    const headers = { ...req.headers };
    for (const k of ['authorization', 'cookie']) if (headers[k]) headers[k] = '[masked]';
    n++; got++;
    console.log(`\n#${n} ${req.method} ${req.url} ${ok === null ? '' : ok ? 'signature ok' : 'SIGNATURE BAD'}`);
    console.log(JSON.stringify(headers, null, 2));
    console.log(body.slice(0, 4000));
    if (save) writeFileSync(join(save, String(n).padStart(4, '0') + '.json'), JSON.stringify({ method: req.method, url: req.url, headers, body }, null, 2));
    res.writeHead(200, { 'content-type': 'text/plain', connection: 'close' }).end('ok\n');
    if (limit && got >= limit) server.close();
  });
});
server.listen(port, '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${port}`));
