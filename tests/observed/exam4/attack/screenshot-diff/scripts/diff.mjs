#!/usr/bin/env node
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import './env.mjs';

const [a, b] = process.argv.slice(2);
if (!a || !b) { console.error('usage: diff.mjs BEFORE AFTER'); process.exit(2); }

const list = (d) => readdirSync(d).filter((f) => f.endsWith('.png'));
const hash = (f) => createHash('sha1').update(readFileSync(f)).digest('hex');
const kb = (f) => `${Math.round(statSync(f).size / 1024)} kB`;

let bad = 0;
for (const f of new Set([...list(a), ...list(b)])) {
  const x = join(a, f), y = join(b, f);
  if (!existsSync(y)) { console.log(`missing  ${f}`); bad++; }
  else if (!existsSync(x)) { console.log(`new      ${f}`); bad++; }
  else if (hash(x) === hash(y)) console.log(`same     ${f}`);
  else { console.log(`changed  ${f}   (${kb(x)} -> ${kb(y)})`); bad++; }
}
process.exitCode = bad ? 1 : 0;
