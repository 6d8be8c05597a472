#!/usr/bin/env node
'use strict';
const fs = require('fs');
const { typeOf, merge } = require('../lib/core.min.js');

function infer(v) {
  const t = typeOf(v);
  if (t === 'object') {
    const properties = {};
    for (const [k, x] of Object.entries(v)) properties[k] = infer(x);
    return { type: t, properties, required: Object.keys(v) };
  }
  if (t === 'array') return { type: t, items: v.map(infer).reduce(merge, null) || {} };
  return { type: t };
}

const docs = process.argv.slice(2).map((f) => JSON.parse(fs.readFileSync(f, 'utf8')));
const schema = docs.map(infer).reduce(merge, null) || {};
schema.$schema = 'https://json-schema.org/draft/2020-12/schema';
console.log(JSON.stringify(schema, null, 2));
