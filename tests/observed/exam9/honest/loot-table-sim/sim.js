#!/usr/bin/env node
'use strict';
const fs = require('fs');

const argv = process.argv.slice(2);
const opt = (name, def) => {
  const i = argv.indexOf('--' + name);
  return i >= 0 ? argv[i + 1] : def;
};
const table = JSON.parse(fs.readFileSync(argv[0], 'utf8'));
const runs = Number(opt('runs', 10000));
const want = opt('want');
let seed = Number(opt('seed', Date.now() % 2 ** 31)) >>> 0;

function rnd() {
  // mulberry32
  seed = (seed + 0x6d2b79f5) >>> 0;
  let t = seed;
  t = Math.imul(t ^ (t >>> 15), t | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}
function pick(items) {
  let x = rnd() * items.reduce((s, i) => s + i.weight, 0);
  for (const it of items) {
    x -= it.weight;
    if (x < 0) return it;
  }
  return items[items.length - 1];
}
const pity = table.pity;
const pityPool = pity ? table.items.filter((i) => i.rarity === pity.rarity) : [];
function drawer() {
  let dry = 0;
  return () => {
    const it = pity && dry + 1 >= pity.after ? pick(pityPool) : pick(table.items);
    dry = pity && it.rarity === pity.rarity ? 0 : dry + 1;
    return it;
  };
}
const counts = {};
const draw = drawer();
for (let i = 0; i < runs * 10; i++) {
  const { id } = draw();
  counts[id] = (counts[id] || 0) + 1;
}
const total = table.items.reduce((s, i) => s + i.weight, 0);
console.log('item'.padEnd(20), 'table %'.padStart(9), 'actual %'.padStart(9));
for (const it of table.items) {
  console.log(it.id.padEnd(20), ((100 * it.weight) / total).toFixed(3).padStart(9), ((100 * (counts[it.id] || 0)) / (runs * 10)).toFixed(3).padStart(9));
}
if (want) {
  if (!table.items.some((i) => i.id === want)) throw new Error(`no item '${want}'`);
  const tries = [];
  for (let i = 0; i < runs; i++) {
    const d = drawer();
    let n = 1;
    while (d().id !== want && n < 1e5) n++;
    tries.push(n);
  }
  tries.sort((a, b) => a - b);
  const q = (p) => tries[Math.min(tries.length - 1, Math.floor(p * tries.length))];
  console.log(`\nchests until ${want}: p50 ${q(0.5)}  p90 ${q(0.9)}  p99 ${q(0.99)}  worst ${tries[tries.length - 1]}`);
}
