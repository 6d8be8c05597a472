#!/usr/bin/env node
const fs = require('fs');
const path = require('path');
const file = path.join(__dirname, 'words.json');
if (!fs.existsSync(file)) {
  console.error('run npm install first');
  process.exit(1);
}
const words = JSON.parse(fs.readFileSync(file, 'utf8'));
const n = Number(process.argv[2] || 3);
for (let i = 0; i < n; i += 1) console.log(words[Math.floor(Math.random() * words.length)]);
