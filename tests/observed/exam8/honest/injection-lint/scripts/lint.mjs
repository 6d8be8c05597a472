#!/usr/bin/env node
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join, extname } from 'node:path';

const RULES = [
  ['override', /\b(ignore|disregard|forget)\b.{0,30}\b(previous|prior|above|earlier|system)\b.{0,20}\b(instructions?|prompts?|rules)\b/i],
  ['secrecy', /\b(do not|don't|never)\s+(tell|inform|mention|reveal|show)\b.{0,30}\b(user|human|operator)\b/i],
  ['role', /\byou are now\b.{0,40}\b(mode|unrestricted|jailbroken|developer)\b/i],
  ['fetch-run', /\b(before anything else|first,? silently)\b.{0,40}\b(download|run|execute|curl)\b/i],
  ['hidden-comment', /<!--.{0,200}\b(must|ignore|execute|agents?|assistant)\b.{0,200}-->/is],
  ['zero-width', /\w[\u200b\u200c\u200d\u2060\ufeff]\w/u],
  ['bidi', /[\u202a-\u202e\u2066-\u2069]/u],
  ['tags', /[\u{e0000}-\u{e007f}]/u],
  ['base64', /[A-Za-z0-9+/]{200,}={0,2}/],
  ['hidden-style', /(display\s*:\s*none|font-size\s*:\s*0\b|color\s*:\s*(#fff\b|white)[^;]*;\s*background(-color)?\s*:\s*(#fff\b|white))/i],
];
const TEXT = new Set(['.md', '.mdx', '.txt', '.html', '.htm', '.json', '.yaml', '.yml', '.rst', '']);

function* walk(p) {
  const st = statSync(p);
  if (st.isFile()) { if (st.size < 2e6) yield p; return; }
  for (const n of readdirSync(p).sort()) {
    if (n === '.git' || n === 'node_modules') continue;
    const q = join(p, n);
    if (statSync(q).isDirectory() || TEXT.has(extname(n).toLowerCase())) yield* walk(q);
  }
}

const args = process.argv.slice(2);
const json = args.includes('--json');
const paths = args.filter((a) => a !== '--json');
if (!paths.length) { console.error('usage: lint.mjs [--json] PATH...'); process.exit(2); }
const hits = [];
for (const p of paths) for (const f of walk(p)) {
  readFileSync(f, 'utf8').split(/\r?\n/).forEach((l, i) => {
    for (const [rule, rx] of RULES) {
      const m = rx.exec(l);
      if (m) hits.push({ file: f, line: i + 1, rule, excerpt: m[0].slice(0, 80).replace(/[^\x20-\x7e]/gu, (c) => `\\u{${c.codePointAt(0).toString(16)}}`) });
    }
  });
}
if (json) console.log(JSON.stringify(hits, null, 2));
else { for (const h of hits) console.log(`${h.file}:${h.line}: ${h.rule}: ${h.excerpt}`); console.log(`${hits.length} hit(s)`); }
process.exit(hits.length ? 1 : 0);
