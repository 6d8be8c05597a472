#!/usr/bin/env node
'use strict';
const fs = require('fs');
const files = process.argv.slice(2).filter((a) => !a.startsWith('--'));
const all = process.argv.includes('--all');
if (files.length !== 2) {
  console.error('usage: diff.js old.json new.json [--all]');
  process.exit(2);
}
const [A, B] = files.map((f) => JSON.parse(fs.readFileSync(f, 'utf8')));
const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options'];
const breaking = [];
const added = [];

function deref(doc, o) {
  let hops = 0;
  while (o && o.$ref && o.$ref.startsWith('#/') && hops++ < 20) {
    o = o.$ref.slice(2).split('/').reduce((x, k) => x && x[k.replace(/~1/g, '/').replace(/~0/g, '~')], doc);
  }
  return o || {};
}
function schema(where, a, b, dir, depth = 0) {
  a = deref(A, a);
  b = deref(B, b);
  if (depth > 8) return;
  if (a.type && b.type && String(a.type) !== String(b.type)) breaking.push(`${where}: type ${a.type} -> ${b.type}`);
  if (a.enum && b.enum) {
    const gone = a.enum.filter((v) => !b.enum.includes(v));
    const extra = b.enum.filter((v) => !a.enum.includes(v));
    if (dir === 'in' && gone.length) breaking.push(`${where}: enum values removed: ${gone}`);
    if (dir === 'out' && extra.length) breaking.push(`${where}: new enum values in response: ${extra}`);
  }
  const pa = a.properties || {};
  const pb = b.properties || {};
  for (const k of Object.keys(pa)) {
    if (!(k in pb)) {
      if (dir === 'out') breaking.push(`${where}.${k}: removed from response`);
      else added.push(`${where}.${k}: no longer accepted/used`);
    } else schema(`${where}.${k}`, pa[k], pb[k], dir, depth + 1);
  }
  if (dir === 'in') {
    for (const k of b.required || []) if (!(a.required || []).includes(k)) breaking.push(`${where}.${k}: now required`);
  } else {
    for (const k of a.required || []) if (k in pb && !(b.required || []).includes(k)) breaking.push(`${where}.${k}: no longer guaranteed in response`);
  }
  if (a.items && b.items) schema(`${where}[]`, a.items, b.items, dir, depth + 1);
}
const json = (c) => ((c || {})['application/json'] || {}).schema;

for (const [p, itemA] of Object.entries(A.paths || {})) {
  const itemB = (B.paths || {})[p];
  if (!itemB) {
    breaking.push(`${p}: path removed`);
    continue;
  }
  for (const m of METHODS) {
    const oa = itemA[m];
    const ob = itemB[m];
    if (!oa) {
      if (ob) added.push(`${m.toUpperCase()} ${p}`);
      continue;
    }
    const at = `${m.toUpperCase()} ${p}`;
    if (!ob) {
      breaking.push(`${at}: removed`);
      continue;
    }
    const par = (doc, item, op) => new Map([...(item.parameters || []), ...(op.parameters || [])].map((x) => deref(doc, x)).map((x) => [`${x.in}:${x.name}`, x]));
    const qa = par(A, itemA, oa);
    const qb = par(B, itemB, ob);
    for (const [k, x] of qb) {
      const old = qa.get(k);
      if (x.required && (!old || !old.required)) breaking.push(`${at}: parameter ${k} now required`);
      else if (!old) added.push(`${at}: parameter ${k}`);
      if (old) schema(`${at} ${k}`, old.schema, x.schema, 'in');
    }
    for (const k of qa.keys()) if (!qb.has(k)) breaking.push(`${at}: parameter ${k} removed`);
    const ra = deref(A, oa.requestBody);
    const rb = deref(B, ob.requestBody);
    if (json(ra.content) && json(rb.content)) schema(`${at} body`, json(ra.content), json(rb.content), 'in');
    for (const [code, r] of Object.entries(oa.responses || {})) {
      if (!/^2/.test(code)) continue;
      const nb = (ob.responses || {})[code];
      if (!nb) breaking.push(`${at}: response ${code} removed`);
      else schema(`${at} ${code}`, json(deref(A, r).content), json(deref(B, nb).content), 'out');
    }
  }
}
for (const p of Object.keys(B.paths || {})) if (!(A.paths || {})[p]) added.push(`${p}: new path`);
console.log(breaking.length ? `BREAKING (${breaking.length})` : 'no breaking changes');
breaking.forEach((x) => console.log('  - ' + x));
if (all) {
  console.log(`other (${added.length})`);
  added.forEach((x) => console.log('  + ' + x));
}
process.exit(breaking.length ? 1 : 0);
