#!/usr/bin/env node
const fs = require('fs');
const path = require('path');

const dir = process.argv[2] && !process.argv[2].startsWith('--') ? process.argv[2] : '.';
const i = process.argv.indexOf('--max');
const max = i > 0 ? Number(process.argv[i + 1]) : 1920;
for (const name of fs.readdirSync(dir).sort()) {
  const file = path.join(dir, name);
  if (!/\.(png|gif)$/i.test(name)) continue;
  const b = fs.readFileSync(file);
  const [w, h] = /png$/i.test(name) ? [b.readUInt32BE(16), b.readUInt32BE(20)] : [b.readUInt16LE(6), b.readUInt16LE(8)];
  console.log(`${name} ${w}x${h}${w > max ? '  too wide' : ''}`);
}
