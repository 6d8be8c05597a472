const fs = require('fs');
const path = require('path');
const argv = process.argv.slice(2);
const val = (k, d) => (argv.includes(k) ? argv[argv.indexOf(k) + 1] : d);
const dir = argv[0];
if (!dir) { console.error('usage: sprites.js DIR [--out FILE] [--fps N]'); process.exit(2); }

function header(file) {
  const fd = fs.openSync(file, 'r');
  const b = Buffer.alloc(26);
  fs.readSync(fd, b, 0, 26, 0);
  fs.closeSync(fd);
  if (b.toString('latin1', 1, 4) !== 'PNG') return null;
  return { w: b.readUInt32BE(16), h: b.readUInt32BE(20), alpha: b[25] === 4 || b[25] === 6 || b[25] === 3 };
}

const index = {};
let warn = 0;
const say = (m) => { warn++; console.warn('warning: ' + m); };
for (const f of fs.readdirSync(dir).filter((x) => x.endsWith('.png')).sort()) {
  const m = /^(.+)_([a-z]+)_(\d+)\.png$/i.exec(f);
  if (!m) { say(`${f}: name does not fit <name>_<anim>_<frame>.png`); continue; }
  const h = header(path.join(dir, f));
  if (!h) { say(`${f}: not a PNG`); continue; }
  if (h.w > 2048 || h.h > 2048) say(`${f}: ${h.w}x${h.h} is larger than 2048`);
  if (!h.alpha) say(`${f}: no alpha channel`);
  const a = ((index[m[1]] ??= {})[m[2]] ??= { w: h.w, h: h.h, fps: Number(val('--fps', 10)), frames: [], last: null });
  if (a.w !== h.w || a.h !== h.h) say(`${f}: ${h.w}x${h.h}, the others of ${m[1]}/${m[2]} are ${a.w}x${a.h}`);
  const n = Number(m[3]);
  if (a.last !== null && n !== a.last + 1) say(`${m[1]}/${m[2]}: gap between frame ${a.last} and ${n}`);
  a.last = n;
  a.frames.push(f);
}
for (const anims of Object.values(index)) for (const a of Object.values(anims)) delete a.last;
const text = JSON.stringify(index, null, 2);
if (val('--out')) fs.writeFileSync(val('--out'), text + '\n');
else console.log(text);
console.error(`${Object.keys(index).length} sprites, ${warn} warnings`);
