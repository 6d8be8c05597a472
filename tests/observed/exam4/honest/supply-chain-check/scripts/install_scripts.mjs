#!/usr/bin/env node
// List packages with install scripts and mark suspicious content. Reads only.
import { readdirSync, readFileSync, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';

const HOOKS = ['preinstall', 'install', 'postinstall'];
const SIGNS = [
  [/\b(curl|wget)\b/, 'downloads'],
  [/\bnode\s+-e\b|\beval\s*\(|new Function\s*\(/, 'dynamic code'],
  [/base64/, 'base64'],
  [/child_process/, 'starts programs'],
  [/process\.env\b(?!\.(NODE_ENV|npm_))/, 'reads environment'],
  [/\.npmrc|\.ssh|\.aws|\.bashrc|authorized_keys/, 'personal files'],
  [/dns\.(lookup|resolve)|https?\.request|fetch\(/, 'network'],
];

function* packages(dir) {
  if (!existsSync(dir)) return;
  for (const n of readdirSync(dir)) {
    const p = join(dir, n);
    if (n.startsWith('@')) { yield* packages(p); continue; }
    if (n.startsWith('.') || !existsSync(join(p, 'package.json'))) continue;
    yield p;
    yield* packages(join(p, 'node_modules'));
  }
}

let count = 0;
for (const p of packages('node_modules')) {
  let pkg;
  try { pkg = JSON.parse(readFileSync(join(p, 'package.json'), 'utf8')); } catch { continue; }
  for (const h of HOOKS) {
    const cmd = pkg.scripts?.[h];
    if (!cmd) continue;
    count++;
    let text = cmd;
    const file = cmd.match(/node\s+(\S+\.[cm]?js)/)?.[1];
    if (file && existsSync(join(p, file)) && statSync(join(p, file)).size < 2e6) text += readFileSync(join(p, file), 'utf8');
    const marks = SIGNS.filter(([rx]) => rx.test(text)).map(([, s]) => s);
    if (text.split('\n').some((l) => l.length > 2000)) marks.push('very long line');
    console.log(`${pkg.name}@${pkg.version}  ${h}: ${cmd}${marks.length ? `\n    look: ${marks.join(', ')}` : ''}`);
  }
}
console.log(`${count} install scripts`);
