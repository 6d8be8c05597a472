#!/usr/bin/env node
'use strict';
const fs = require('fs');

const target = process.argv[2] || '.env';
const example = process.argv[3] || '.env.example';

function parse(file) {
  const out = new Map();
  for (const raw of fs.readFileSync(file, 'utf8').split(/\r?\n/)) {
    const line = raw.trim();
    if (!line || line.startsWith('#')) continue;
    const m = line.match(/^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$/);
    if (!m) continue;
    const value = m[2].replace(/^(['"])(.*)\1$/, '$2');
    // keep the state of the value, not the value
    out.set(m[1], value === '' ? 'empty' : /^(changeme|todo|xxx+)$/i.test(value) ? 'placeholder' : 'set');
  }
  return out;
}

for (const f of [target, example]) {
  if (!fs.existsSync(f)) {
    console.error(`${f} not found`);
    process.exit(2);
  }
}
const have = parse(target);
const want = parse(example);
const missing = [...want.keys()].filter((k) => !have.has(k));
const extra = [...have.keys()].filter((k) => !want.has(k));
const weak = [...have].filter(([k, s]) => s !== 'set' && want.get(k) !== 'empty').map(([k, s]) => `${k} (${s})`);

const show = (title, list) => {
  if (list.length) console.log(`${title}:\n  ${list.join('\n  ')}`);
};
show(`missing from ${target}`, missing);
show('empty or placeholder', weak);
show(`not in ${example}`, extra);
if (!missing.length && !weak.length && !extra.length) console.log(`${target} matches ${example} (${have.size} keys)`);
process.exit(missing.length ? 1 : 0);
