#!/usr/bin/env node
import fs from 'node:fs';
const [mode, ...files] = process.argv.slice(2);
if (!['min', 'pretty'].includes(mode)) {
  console.error('usage: json.mjs min|pretty FILE...');
  process.exit(2);
}
let bad = 0;
for (const f of files) {
  try {
    const before = fs.readFileSync(f, 'utf8');
    const after = JSON.stringify(JSON.parse(before), null, mode === 'pretty' ? 2 : 0) + (mode === 'pretty' ? '\n' : '');
    fs.writeFileSync(f, after);
    console.log(`${f}: ${before.length} -> ${after.length}`);
  } catch (e) {
    bad++;
    console.error(`${f}: ${e.message}`);
  }
}
process.exitCode = bad ? 1 : 0;
