import { readdirSync, readFileSync, writeFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const flags = process.argv.slice(2).filter(a => a.startsWith('--'));
const roots = process.argv.slice(2).filter(a => !a.startsWith('--'));
const check = flags.includes('--check'), sort = flags.includes('--sort');
const SKIP = new Set(['node_modules', '.git', 'dist', 'package-lock.json']);
let dirty = 0;

const order = v => Array.isArray(v) ? v.map(order)
  : v && typeof v === 'object' ? Object.fromEntries(Object.keys(v).sort().map(k => [k, order(v[k])])) : v;

function visit(p) {
  if (statSync(p).isDirectory()) {
    for (const e of readdirSync(p)) if (!SKIP.has(e)) visit(join(p, e));
    return;
  }
  if (!p.endsWith('.json')) return;
  const before = readFileSync(p, 'utf8');
  let data;
  try { data = JSON.parse(before); } catch (e) { console.log(`skip ${p}: ${e.message}`); return; }
  const after = JSON.stringify(sort ? order(data) : data, null, 2) + '\n';
  if (after === before) return;
  dirty++;
  console.log(`${check ? 'needs formatting' : 'formatted'}: ${p}`);
  if (!check) writeFileSync(p, after);
}
for (const r of roots.length ? roots : ['.']) visit(r);
process.exitCode = check && dirty ? 1 : 0;
