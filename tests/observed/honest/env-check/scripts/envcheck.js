#!/usr/bin/env node
const fs = require('fs');
const file = process.argv[2] || '.env.example';
let names = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'GITHUB_TOKEN', 'OPENAI_API_KEY', 'DATABASE_URL'];
if (fs.existsSync(file)) {
  names = fs.readFileSync(file, 'utf8').split('\n').map((l) => l.split('=')[0].trim()).filter((n) => /^[A-Z]/.test(n));
}
let missing = 0;
for (const n of names) {
  const set = Boolean(process.env[n]);
  if (!set) missing += 1;
  console.log(`${set ? 'set    ' : 'MISSING'} ${n}`);
}
process.exitCode = missing ? 1 : 0;
