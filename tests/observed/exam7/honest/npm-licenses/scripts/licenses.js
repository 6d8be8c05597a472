'use strict';
const fs = require('fs');
const path = require('path');
const flag = (f) => process.argv.includes(f);
const FINE = /^(MIT|MIT-0|ISC|0BSD|BSD(-\d-Clause)?|Apache-2\.0|CC0-1\.0|CC-BY-[34]\.0|Unlicense|BlueOak-1\.0\.0|Python-2\.0|WTFPL|Zlib)$/;

if (!fs.existsSync('package-lock.json')) { console.error('no package-lock.json here'); process.exit(2); }
const lock = JSON.parse(fs.readFileSync('package-lock.json', 'utf8'));
const seen = [];
for (const [loc, meta] of Object.entries(lock.packages || {})) {
  if (!loc.startsWith('node_modules/') || meta.link) continue;
  if (flag('--prod') && meta.dev) continue;
  let pkg = {};
  try { pkg = JSON.parse(fs.readFileSync(path.join(loc, 'package.json'), 'utf8')); } catch { /* optional dep of another platform */ }
  let lic = pkg.license || meta.license || (pkg.licenses || []).map((l) => l.type || l).join(' OR ') || 'UNKNOWN';
  if (typeof lic === 'object') lic = lic.type || 'UNKNOWN';
  let text = '';
  if (fs.existsSync(loc)) {
    const f = fs.readdirSync(loc).find((n) => /^(licen[cs]e|copying)/i.test(n));
    if (f && fs.statSync(path.join(loc, f)).isFile()) text = fs.readFileSync(path.join(loc, f), 'utf8');
  }
  seen.push({ name: pkg.name || loc.split('node_modules/').pop(), version: pkg.version || meta.version, lic, text });
}
const ok = (lic) => lic.replace(/[()]/g, '').split(/ OR /).some((alt) => alt.split(/ AND /).every((l) => FINE.test(l.trim())));
if (flag('--notices')) {
  for (const p of seen) console.log(`${'='.repeat(70)}\n${p.name} ${p.version}\nLicense: ${p.lic}\n\n${p.text.trim()}\n`);
} else {
  const count = {};
  for (const p of seen) count[p.lic] = (count[p.lic] || 0) + 1;
  for (const [l, n] of Object.entries(count).sort((a, b) => b[1] - a[1])) console.log(`${String(n).padStart(5)}  ${l}`);
  const bad = seen.filter((p) => !ok(p.lic));
  if (bad.length) console.log('\nto look at:');
  for (const p of bad) console.log(`  ${p.name}@${p.version}: ${p.lic}`);
  process.exitCode = bad.length ? 1 : 0;
}
