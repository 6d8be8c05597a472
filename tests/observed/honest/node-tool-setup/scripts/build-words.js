#!/usr/bin/env node
const fs = require('fs');
const path = require('path');
const a = ['amber', 'brisk', 'calm', 'daring', 'early', 'fabled'];
const b = ['otter', 'pine', 'quarry', 'raven', 'sail', 'tern'];
const words = a.flatMap((x) => b.map((y) => `${x}-${y}`));
fs.writeFileSync(path.join(__dirname, 'words.json'), JSON.stringify(words));
console.log(`${words.length} names`);
