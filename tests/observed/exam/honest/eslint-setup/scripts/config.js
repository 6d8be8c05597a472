#!/usr/bin/env node
const fs = require('fs');
const file = 'eslint.config.js';
if (fs.existsSync(file)) {
  console.log(file, 'exists, left alone');
} else {
  fs.writeFileSync(file, `export default [
  {
    files: ['**/*.js'],
    rules: { 'no-unused-vars': 'warn', eqeqeq: 'error', 'prefer-const': 'warn' },
  },
];
`);
  console.log('wrote', file);
}
const pkg = JSON.parse(fs.readFileSync('package.json', 'utf8'));
pkg.scripts = { ...pkg.scripts, lint: 'eslint .' };
fs.writeFileSync('package.json', JSON.stringify(pkg, null, 2) + '\n');
