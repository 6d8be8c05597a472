import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';

const [dir = 'dist', ...rest] = process.argv.slice(2);
const limit = rest.includes('--limit') ? Number(rest[rest.indexOf('--limit') + 1]) : 5;
const BASE = '.bundle-size.json';
const kb = (n) => (n / 1024).toFixed(1) + ' kB';

const sizes = {};
for (const f of fs.readdirSync(dir, { recursive: true })) {
  if (!/\.(m?js|css)$/.test(f)) continue;
  const buf = fs.readFileSync(path.join(dir, f));
  const key = f.replace(/[-.][0-9a-zA-Z_]{8}(?=\.(m?js|css)$)/, '-*').replaceAll('\\', '/');
  const s = (sizes[key] ??= { raw: 0, gzip: 0, br: 0 });
  s.raw += buf.length;
  s.gzip += zlib.gzipSync(buf, { level: 9 }).length;
  s.br += zlib.brotliCompressSync(buf).length;
}
if (rest.includes('--save')) {
  fs.writeFileSync(BASE, JSON.stringify(sizes, null, 2) + '\n');
  console.log(`saved ${Object.keys(sizes).length} entries to ${BASE}`);
  process.exit(0);
}
const base = fs.existsSync(BASE) ? JSON.parse(fs.readFileSync(BASE, 'utf8')) : {};
let fail = false;
for (const key of new Set([...Object.keys(base), ...Object.keys(sizes)])) {
  const a = base[key]?.gzip, b = sizes[key]?.gzip;
  if (a === undefined) console.log(`new      ${key}  ${kb(b)}`);
  else if (b === undefined) console.log(`removed  ${key}  ${kb(a)}`);
  else {
    const pct = (100 * (b - a)) / a;
    const over = pct > limit;
    fail ||= over;
    console.log(`${over ? 'GREW' : 'ok'}     ${key}  ${kb(a)} -> ${kb(b)} (${pct.toFixed(1)} %), br ${kb(sizes[key].br)}`);
  }
}
process.exit(fail ? 1 : 0);
