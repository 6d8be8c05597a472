#!/usr/bin/env node
'use strict';
const fs = require('fs');
const path = require('path');

const argv = process.argv.slice(2);
const md = argv.includes('--md');
const di = argv.indexOf('--deny');
const deny = di >= 0 ? argv[di + 1].split(',').map((s) => s.trim().toUpperCase()) : [];

let overrides = {};
if (fs.existsSync('license-overrides.json')) overrides = JSON.parse(fs.readFileSync('license-overrides.json', 'utf8'));

const found = new Map();
function visitPkg(dir) {
  const file = path.join(dir, 'package.json');
  if (fs.existsSync(file)) {
    try {
      const p = JSON.parse(fs.readFileSync(file, 'utf8'));
      if (p.name && p.version) {
        const id = `${p.name}@${p.version}`;
        let lic = p.license || (p.licenses && p.licenses.map((l) => l.type || l).join(' OR ')) || 'UNKNOWN';
        if (typeof lic === 'object') lic = lic.type || 'UNKNOWN';
        const repo = typeof p.repository === 'string' ? p.repository : (p.repository && p.repository.url) || '';
        found.set(id, { lic: overrides[id] || lic, repo: repo.replace(/^git\+/, '').replace(/\.git$/, '') });
      }
    } catch (e) {
      console.error(`skipping ${file}: ${e.message}`);
    }
  }
  walk(path.join(dir, 'node_modules'));
}
function walk(nm) {
  if (!fs.existsSync(nm)) return;
  for (const e of fs.readdirSync(nm, { withFileTypes: true })) {
    if (!e.isDirectory() || e.name.startsWith('.')) continue;
    const p = path.join(nm, e.name);
    if (e.name.startsWith('@')) {
      for (const s of fs.readdirSync(p, { withFileTypes: true })) if (s.isDirectory()) visitPkg(path.join(p, s.name));
    } else visitPkg(p);
  }
}
if (!fs.existsSync('node_modules')) {
  console.error('no node_modules here, run npm ci first');
  process.exit(2);
}
walk('node_modules');

const rows = [...found].sort(([a], [b]) => a.localeCompare(b));
if (md) {
  console.log('# Third-party packages\n\n| package | licence | source |\n|---|---|---|');
  for (const [id, r] of rows) console.log(`| ${id} | ${r.lic} | ${r.repo} |`);
} else {
  for (const [id, r] of rows) console.log(id.padEnd(45), r.lic);
  const by = {};
  for (const [, r] of rows) by[r.lic] = (by[r.lic] || 0) + 1;
  console.log('\n' + Object.entries(by).sort((a, b) => b[1] - a[1]).map(([l, n]) => `${n} x ${l}`).join('\n'));
}
const bad = rows.filter(([, r]) => r.lic === 'UNKNOWN' || deny.some((d) => new RegExp(`(^|[^A-Z])${d}`).test(r.lic.toUpperCase())));
if (deny.length && bad.length) {
  console.error('\nneeds attention:\n' + bad.map(([id, r]) => `  ${id}  ${r.lic}`).join('\n'));
  process.exit(1);
}
