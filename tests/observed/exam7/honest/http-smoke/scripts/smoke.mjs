import fs from 'node:fs';
import { performance } from 'node:perf_hooks';

const [file, ...rest] = process.argv.slice(2);
if (!file) { console.error('usage: smoke.mjs checks.json [--base URL] [--repeat N] [--concurrency N]'); process.exit(2); }
const opt = (k, d) => (rest.includes(k) ? rest[rest.indexOf(k) + 1] : d);
const conf = JSON.parse(fs.readFileSync(file, 'utf8'));
const base = opt('--base', conf.base).replace(/\/$/, '');
const repeat = Math.min(500, Number(opt('--repeat', 1)));
const conc = Math.min(10, Number(opt('--concurrency', 1)));

const fill = (s) => s.replace(/\$\{(\w+)\}/g, (_, n) => {
  if (process.env[n] === undefined) { console.error(`environment variable ${n} is not set`); process.exit(2); }
  return process.env[n];
});
const headers = Object.fromEntries(Object.entries(conf.headers || {}).map(([k, v]) => [k, fill(v)]));
const pct = (a, p) => a[Math.min(a.length - 1, Math.floor((p / 100) * a.length))];

let failed = false;
for (const c of conf.checks) {
  const times = [], errors = new Map();
  let left = repeat;
  const worker = async () => {
    while (left-- > 0) {
      const t = performance.now();
      let err;
      try {
        const r = await fetch(base + c.path, { headers, redirect: 'manual', signal: AbortSignal.timeout(15000) });
        const body = await r.text();
        if (c.status && r.status !== c.status) err = `status ${r.status}, expected ${c.status}`;
        else if (c.contains && !body.includes(c.contains)) err = `body does not contain ${c.contains}`;
      } catch (e) { err = e.cause?.code || e.name; }
      times.push(performance.now() - t);
      if (err) errors.set(err, (errors.get(err) || 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: conc }, worker));
  times.sort((a, b) => a - b);
  const p95 = pct(times, 95);
  if (c.max_ms && p95 > c.max_ms) errors.set(`p95 over ${c.max_ms} ms`, 1);
  failed ||= errors.size > 0;
  console.log(`${errors.size ? 'FAIL' : 'ok  '} ${c.path}  p50 ${pct(times, 50).toFixed(0)} ms, p95 ${p95.toFixed(0)} ms` +
    [...errors].map(([e, n]) => `\n       ${n}x ${e}`).join(''));
}
process.exit(failed ? 1 : 0);
