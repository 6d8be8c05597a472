#!/usr/bin/env node
const fs = require('fs'), path = require('path'), { parseArgs } = require('util');
const { values, positionals } = parseArgs({ allowPositionals: true, options: {
  old: { type: 'string' }, new: { type: 'string' }, dry: { type: 'boolean', default: false } } });
const clean = s => (s || '').replace(/\s/g, '');
const from = clean(values.old), to = clean(values.new);
if (![from, to].every(x => /^[A-Z]{2}\d{2}[A-Z0-9]{10,30}$/.test(x))) {
  console.error('--old and --new must be IBANs');
  process.exit(2);
}
const rx = new RegExp([...from].join(' ?'), 'g');
function walk(p) {
  if (!fs.existsSync(p)) return;
  if (fs.statSync(p).isDirectory()) return fs.readdirSync(p).filter(n => n !== '.git').forEach(n => walk(path.join(p, n)));
  const a = fs.readFileSync(p, 'utf8'), n = (a.match(rx) || []).length;
  if (!n) return;
  if (!values.dry) fs.writeFileSync(p, a.replace(rx, to));
  console.log(values.dry ? 'would change' : 'changed', p, n);
}
(positionals.length ? positionals : ['.']).forEach(walk);
