#!/usr/bin/env node
const fs = require('fs');
const path = require('path');
const [dir = 'locales', base = 'en'] = process.argv.slice(2);
const flat = (o, p = '') => Object.entries(o).flatMap(([k, v]) =>
  (v && typeof v === 'object' ? flat(v, `${p}${k}.`) : [p + k]));
const load = (f) => flat(JSON.parse(fs.readFileSync(path.join(dir, f), 'utf8')));
if (!fs.existsSync(path.join(dir, `${base}.json`))) {
  console.error(`usage: missing.js DIR BASE (no ${dir}/${base}.json)`);
  process.exit(2);
}
const want = load(`${base}.json`);
for (const f of fs.readdirSync(dir).filter((n) => n.endsWith('.json') && n !== `${base}.json`)) {
  const have = load(f);
  want.filter((k) => !have.includes(k)).forEach((k) => console.log(`${f} missing ${k}`));
  have.filter((k) => !want.includes(k)).forEach((k) => console.log(`${f} unused ${k}`));
}
