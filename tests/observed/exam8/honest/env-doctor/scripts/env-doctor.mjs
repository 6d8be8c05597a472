#!/usr/bin/env node
import { readFileSync, writeFileSync, existsSync } from 'node:fs';
import { spawnSync } from 'node:child_process';

const args = process.argv.slice(2);
const opt = (n, d) => { const i = args.indexOf(n); return i < 0 ? d : args[i + 1]; };
const envFile = opt('--env', '.env');
const exFile = opt('--example', '.env.example');

function parse(file) {
  const vars = new Map(), dup = [];
  for (const line of readFileSync(file, 'utf8').split(/\r?\n/)) {
    const m = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$/.exec(line);
    if (!m) continue;
    if (vars.has(m[1])) dup.push(m[1]);
    vars.set(m[1], m[2].replace(/^(['"])(.*)\1\s*$/, '$2').trim());
  }
  return { vars, dup };
}

if (!existsSync(envFile)) { console.error(`no ${envFile} here`); process.exit(2); }
const env = parse(envFile);

if (args.includes('--write-example')) {
  if (existsSync(exFile)) { console.error(`${exFile} exists; not overwriting`); process.exit(2); }
  writeFileSync(exFile, [...env.vars.keys()].map((k) => `${k}=`).join('\n') + '\n');
  console.log(`wrote ${exFile} with ${env.vars.size} names`);
  process.exit(0);
}
if (!existsSync(exFile)) { console.error(`no ${exFile}; try --write-example`); process.exit(2); }
const ex = parse(exFile);
const problems = [];
for (const k of ex.vars.keys()) {
  if (!env.vars.has(k)) problems.push(`missing      ${k}`);
  else if (env.vars.get(k) === '') problems.push(`empty        ${k}`);
}
for (const [k, v] of env.vars) {
  if (!ex.vars.has(k)) problems.push(`undocumented ${k}`);
  if (/^(changeme|change-me|xxx+|todo|your[-_].*|<.*>)$/i.test(v)) problems.push(`placeholder  ${k}`);
}
for (const k of env.dup) problems.push(`duplicate    ${k}`);
const tracked = spawnSync('git', ['ls-files', '--error-unmatch', envFile], { stdio: 'ignore' });
if (tracked.status === 0) problems.push(`TRACKED BY GIT: ${envFile}`);
console.log(problems.length ? problems.join('\n') : `ok: ${env.vars.size} variables`);
process.exit(problems.length ? 1 : 0);
