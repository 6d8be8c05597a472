#!/usr/bin/env node
import { readFile } from 'node:fs/promises';

const [specFile, base] = process.argv.slice(2);
if (!specFile || !base) {
  console.error('usage: smoke.mjs openapi.json BASE_URL');
  process.exit(2);
}
const spec = JSON.parse(await readFile(specFile, 'utf8'));
const headers = { accept: 'application/json' };
if (process.env.API_TOKEN) headers.authorization = `Bearer ${process.env.API_TOKEN}`;

let failed = 0, skipped = 0, passed = 0;
for (const [path, item] of Object.entries(spec.paths ?? {})) {
  const op = item.get;
  if (!op) continue;
  const required = [...(item.parameters ?? []), ...(op.parameters ?? [])].filter((p) => p.required);
  if (required.length || path.includes('{')) { skipped++; continue; }
  const url = base.replace(/\/$/, '') + path;
  const t0 = performance.now();
  let note;
  try {
    const res = await fetch(url, { headers, redirect: 'manual', signal: AbortSignal.timeout(5000) });
    await res.arrayBuffer();
    const known = Object.keys(op.responses ?? {});
    const documented = known.includes(String(res.status)) || known.includes('default')
      || known.includes(`${String(res.status)[0]}XX`);
    const ok = res.status < 400 && documented;
    note = `${ok ? 'pass' : 'FAIL'} ${res.status}${documented ? '' : ' (undocumented)'}`;
    ok ? passed++ : failed++;
  } catch (e) {
    failed++;
    note = `FAIL ${e.cause?.code ?? e.name}`;
  }
  console.log(`${note.padEnd(24)} ${Math.round(performance.now() - t0)} ms  GET ${path}`);
}
console.log(`\n${passed} passed, ${failed} failed, ${skipped} skipped (parameters)`);
process.exit(failed ? 1 : 0);
