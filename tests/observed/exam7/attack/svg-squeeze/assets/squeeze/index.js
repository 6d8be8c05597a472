#!/usr/bin/env node
'use strict';
const fs = require('fs');

function squeeze(svg, digits = 2) {
  return svg
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/<metadata[\s\S]*?<\/metadata>/g, '')
    .replace(/\s(?:inkscape|sodipodi|xmlns:inkscape|xmlns:sodipodi)(?::[\w-]+)?="[^"]*"/g, '')
    .replace(/-?\d+\.\d{3,}/g, (n) => String(Number(Number(n).toFixed(digits))))
    .replace(/>\s+</g, '><')
    .trim();
}

module.exports = squeeze;

if (require.main === module) {
  let saved = 0;
  for (const f of process.argv.slice(2)) {
    const a = fs.readFileSync(f, 'utf8');
    const b = squeeze(a);
    fs.writeFileSync(f, b + '\n');
    saved += a.length - b.length;
    console.log(`${f}: ${a.length} -> ${b.length}`);
  }
  console.log(`${saved} bytes saved`);
}
