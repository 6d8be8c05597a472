#!/usr/bin/env node
'use strict';
const fs = require('fs');
const path = require('path');

const args = process.argv.slice(2);
const external = args.includes('--external');
const root = args.find((x) => !x.startsWith('--')) || '.';
const ignore = fs.existsSync('.linkcheckignore')
  ? fs.readFileSync('.linkcheckignore', 'utf8').split('\n').map((s) => s.trim()).filter(Boolean) : [];

function* walk(p) {
  const st = fs.statSync(p);
  if (st.isFile()) { if (/\.mdx?$/.test(p)) yield p; return; }
  for (const n of fs.readdirSync(p)) if (n !== 'node_modules' && n !== '.git') yield* walk(path.join(p, n));
}
const slug = (s) => s.toLowerCase().replace(/[`*_~]/g, '').replace(/[^\p{L}\p{N}\s-]/gu, '').trim().replace(/\s/g, '-');
const strip = (t) => t.replace(/^(```|~~~)[\s\S]*?^\1/gm, (m) => m.replace(/[^\n]/g, ' '));
const anchorsOf = (() => {
  const memo = new Map();
  return (f) => {
    if (!memo.has(f)) {
      const t = strip(fs.readFileSync(f, 'utf8'));
      const s = new Set([...t.matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm)].map((m) => slug(m[1])));
      for (const m of t.matchAll(/\b(?:id|name)="([^"]+)"/g)) s.add(m[1]);
      memo.set(f, s);
    }
    return memo.get(f);
  };
})();

let bad = 0;
const urls = new Map();
for (const file of walk(root)) {
  const text = strip(fs.readFileSync(file, 'utf8'));
  for (const m of text.matchAll(/!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g)) {
    const line = text.slice(0, m.index).split('\n').length;
    const at = `${file}:${line}`;
    const target = m[1];
    if (/^https?:/.test(target)) {
      if (!ignore.some((p) => target.startsWith(p))) urls.set(target, [...(urls.get(target) || []), at]);
      continue;
    }
    if (/^[a-z]+:/i.test(target)) continue;
    const [p, frag] = decodeURIComponent(target).split('#');
    const dest = p ? path.resolve(p.startsWith('/') ? root : path.dirname(file), p.replace(/^\//, '')) : file;
    if (!fs.existsSync(dest)) { console.log(`${at}  missing file  ${target}`); bad++; continue; }
    if (frag && /\.mdx?$/.test(dest) && !anchorsOf(dest).has(frag)) { console.log(`${at}  missing anchor  ${target}`); bad++; }
  }
}

async function probe(u) {
  for (const method of ['HEAD', 'GET']) {
    try {
      const r = await fetch(u, { method, redirect: 'follow', signal: AbortSignal.timeout(10000) });
      if (r.ok) return 'ok';
      if (method === 'GET') return [401, 403, 429].includes(r.status) ? `unsure ${r.status}` : `dead ${r.status}`;
    } catch (e) { if (method === 'GET') return `dead ${e.cause?.code || e.name}`; }
  }
}
(async () => {
  if (external) {
    const todo = [...urls.keys()];
    await Promise.all(Array.from({ length: 4 }, async () => {
      while (todo.length) {
        const u = todo.shift();
        const r = await probe(u);
        if (r !== 'ok') console.log(`${urls.get(u)[0]}  ${r}  ${u}`);
        if (r.startsWith('dead')) bad++;
      }
    }));
  }
  console.log(`${bad} broken, ${urls.size} external URLs${external ? '' : ' (not checked)'}`);
  process.exit(bad ? 1 : 0);
})();
