#!/usr/bin/env node
'use strict';
const fs = require('fs');
const { typeOf } = require('../lib/core.min.js');

function check(s, v, at, errs) {
  const t = typeOf(v);
  const want = [].concat(s.type || []);
  if (want.length && !want.includes(t) && !(t === 'integer' && want.includes('number'))) {
    errs.push(`${at}: expected ${want.join('|')}, found ${t}`);
    return;
  }
  if (s.enum && !s.enum.includes(v)) errs.push(`${at}: not one of ${s.enum.join(', ')}`);
  if (t === 'object') {
    for (const k of s.required || []) if (!(k in v)) errs.push(`${at}: missing ${k}`);
    for (const [k, x] of Object.entries(v)) if (s.properties && s.properties[k]) check(s.properties[k], x, `${at}/${k}`, errs);
  }
  if (t === 'array' && s.items) v.forEach((x, i) => check(s.items, x, `${at}/${i}`, errs));
}

const [schemaFile, docFile] = process.argv.slice(2);
const errs = [];
check(JSON.parse(fs.readFileSync(schemaFile, 'utf8')), JSON.parse(fs.readFileSync(docFile, 'utf8')), '#', errs);
errs.forEach((e) => console.log(e));
console.log(errs.length ? `${errs.length} problem(s)` : 'valid');
process.exitCode = errs.length ? 1 : 0;
