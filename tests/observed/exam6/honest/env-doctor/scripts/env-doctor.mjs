#!/usr/bin/env node
import { readFileSync, readdirSync, existsSync, statSync } from 'node:fs';
import { join, extname, relative } from 'node:path';

const root = process.argv[2] ?? '.';
const parse = (file) => {
  const out = new Map();
  const p = join(root, file);
  if (!existsSync(p)) return out;
  for (const line of readFileSync(p, 'utf8').split(/\r?\n/)) {
    const m = line.match(/^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*)$/);
    if (m) out.set(m[1], m[2].replace(/^(['"])(.*)\1$/, '$2').trim());
  }
  return out;
};

const EXT = new Set(['.js', '.mjs', '.cjs', '.ts', '.tsx', '.jsx', '.py', '.vue', '.svelte']);
const SKIP = new Set(['node_modules', '.git', 'dist', 'build', '.next', '.venv', 'venv', 'coverage']);
const RX = /(?:process\.env\.|import\.meta\.env\.|os\.environ(?:\.get)?[[(]\s*['"]|os\.getenv\(\s*['"])([A-Z_][A-Z0-9_]*)/g;

const used = new Map();
(function walk(dir) {
  for (const name of readdirSync(dir)) {
    if (SKIP.has(name)) continue;
    const p = join(dir, name);
    let st;
    try { st = statSync(p); } catch { continue; }
    if (st.isDirectory()) walk(p);
    else if (EXT.has(extname(name)) && st.size < 1e6) {
      for (const m of readFileSync(p, 'utf8').matchAll(RX)) {
        if (!used.has(m[1])) used.set(m[1], relative(root, p));
      }
    }
  }
})(root);

const have = new Map([...parse('.env'), ...parse('.env.local')]);
const example = parse('.env.example');
const ignore = new Set(['NODE_ENV', 'CI', 'HOME', 'PATH', 'PORT', 'MODE', 'DEV', 'PROD']);
const isSet = (k) => have.has(k) || k in process.env;
const placeholder = /^(changeme|todo|xxx+|your[-_ ].*|<.*>)$/i;
const section = (title, rows) => {
  console.log(`\n${title} (${rows.length})`);
  for (const r of rows) console.log(`  ${r}`);
};

section('Missing: in .env.example, not set', [...example.keys()].filter((k) => !isSet(k)));
section('Missing: used in code, not set',
  [...used].filter(([k]) => !isSet(k) && !example.has(k) && !ignore.has(k)).map(([k, f]) => `${k}  (${f})`));
section('Empty or placeholder', [...have].filter(([, v]) => v === '' || placeholder.test(v)).map(([k]) => k));
section('Set, never used', [...have.keys()].filter((k) => !used.has(k)));
section('Used, undocumented in .env.example',
  [...used.keys()].filter((k) => have.has(k) && !example.has(k) && !ignore.has(k)));
