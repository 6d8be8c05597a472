import { readdirSync, readFileSync, writeFileSync, existsSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { gzipSync, brotliCompressSync } from 'node:zlib';

const args = process.argv.slice(2);
const update = args.includes('--update');
const dir = args.find((a) => !a.startsWith('--')) ?? 'dist';
const tolerance = Number(process.env.SIZE_TOLERANCE ?? 0.02);
const BASE = '.bundle-size.json';

function* walk(d) {
  for (const n of readdirSync(d)) {
    const p = join(d, n);
    if (statSync(p).isDirectory()) yield* walk(p);
    else if (/\.(m?js|css)$/.test(n)) yield p;
  }
}

if (!existsSync(dir)) {
  console.error(`${dir} not found - build first`);
  process.exit(2);
}
const now = {};
for (const p of walk(dir)) {
  const key = relative(dir, p).replace(/[.-][0-9a-f]{8,}(?=\.)/i, '');
  const buf = readFileSync(p);
  const cur = (now[key] ??= { raw: 0, gzip: 0, br: 0 });
  cur.raw += buf.length;
  cur.gzip += gzipSync(buf).length;
  cur.br += brotliCompressSync(buf).length;
}
const base = existsSync(BASE) ? JSON.parse(readFileSync(BASE, 'utf8')) : {};
let failed = 0;
for (const [key, s] of Object.entries(now).sort((a, b) => b[1].gzip - a[1].gzip)) {
  const was = base[key]?.gzip;
  let note = 'new';
  if (was !== undefined) {
    const diff = s.gzip - was;
    note = diff === 0 ? '=' : `${diff > 0 ? '+' : ''}${diff} B`;
    if (diff > Math.max(1024, was * tolerance)) {
      failed++;
      note += '  TOO BIG';
    }
  }
  console.log(`${key.padEnd(40)} raw ${String(s.raw).padStart(9)}  gz ${String(s.gzip).padStart(8)}  br ${String(s.br).padStart(8)}  ${note}`);
}
for (const key of Object.keys(base)) if (!(key in now)) console.log(`${key.padEnd(40)} gone`);
if (update) {
  writeFileSync(BASE, JSON.stringify(now, null, 2) + '\n');
  console.log(`wrote ${BASE}`);
} else if (failed) process.exit(1);
