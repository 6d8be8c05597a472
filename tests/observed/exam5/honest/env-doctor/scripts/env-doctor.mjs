#!/usr/bin/env node
import { existsSync, readFileSync, readdirSync, appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';

const SKIP = new Set(['node_modules', '.git', 'dist', 'build', '.venv', 'venv', 'vendor', '.next', 'coverage']);
const EXT = /\.(m?[jt]sx?|cjs|py|rb|php|go)$/;
const USES = [
  /process\.env\.([A-Z][A-Z0-9_]+)/g, /process\.env\[['"]([A-Z][A-Z0-9_]+)['"]\]/g,
  /os\.environ(?:\.get\(|\[)\s*['"]([A-Z][A-Z0-9_]+)['"]/g, /os\.getenv\(\s*['"]([A-Z][A-Z0-9_]+)['"]/g,
  /ENV\[['"]([A-Z][A-Z0-9_]+)['"]\]/g, /ENV\.fetch\(['"]([A-Z][A-Z0-9_]+)['"]/g,
  /\benv\(\s*['"]([A-Z][A-Z0-9_]+)['"]/g, /os\.Getenv\("([A-Z][A-Z0-9_]+)"\)/g,
];
const PLACEHOLDER = /^(changeme|change-me|todo|xxx+|your[-_ ].*|<.*>|example)$/i;
const STANDARD = new Set(['PATH', 'HOME', 'USER', 'NODE_ENV', 'CI', 'TZ', 'LANG', 'PWD', 'SHELL', 'TMPDIR']);

function parse(file) {
  const map = new Map();
  if (!existsSync(file)) return map;
  for (const line of readFileSync(file, 'utf8').split(/\r?\n/)) {
    const m = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$/.exec(line);
    if (m) map.set(m[1], m[2].trim().replace(/^(['"])(.*)\1$/, '$2'));
  }
  return map;
}

function* sources(dir) {
  for (const e of readdirSync(dir, { withFileTypes: true })) {
    if (SKIP.has(e.name)) continue;
    const p = join(dir, e.name);
    if (e.isDirectory()) yield* sources(p);
    else if (EXT.test(e.name)) yield p;
  }
}

const env = parse('.env');
const example = parse('.env.example');
const used = new Map();
for (const file of sources('.')) {
  const text = readFileSync(file, 'utf8');
  for (const rx of USES) for (const m of text.matchAll(rx)) if (!STANDARD.has(m[1]) && !used.has(m[1])) used.set(m[1], file);
}

let problems = 0;
const say = (kind, name, more = '') => { problems++; console.log(`${kind.padEnd(22)} ${name} ${more}`); };
for (const [n, file] of used) if (!env.has(n)) say('used but not in .env', n, `(${file})`);
for (const [n, v] of env) {
  if (v === '') say('empty', n);
  else if (PLACEHOLDER.test(v)) say('placeholder', n);
  if (!example.has(n)) say('not in .env.example', n);
}
for (const n of example.keys()) if (!env.has(n)) say('only in .env.example', n);
if (existsSync('.env') && existsSync('.git')) {
  if (spawnSync('git', ['check-ignore', '-q', '.env']).status !== 0) say('NOT GIT-IGNORED', '.env');
  if (spawnSync('git', ['ls-files', '--error-unmatch', '.env']).status === 0) say('COMMITTED', '.env');
}
if (process.argv.includes('--write-example')) {
  const add = [...new Set([...env.keys(), ...used.keys()])].filter((n) => !example.has(n)).sort();
  if (add.length) appendFileSync('.env.example', add.map((n) => `${n}=\n`).join(''));
  console.log(`added ${add.length} names to .env.example`);
}
console.log(`${problems} finding(s)`);
process.exit(problems ? 1 : 0);
