#!/usr/bin/env node
const fs = require('fs');
const name = process.argv[2];
if (!/^[A-Z]\w+$/.test(name || '')) {
  console.error('usage: new.js ComponentName');
  process.exit(2);
}
fs.mkdirSync(name, { recursive: true });
fs.writeFileSync(`${name}/${name}.js`, `export class ${name} extends HTMLElement {}\n`);
fs.writeFileSync(`${name}/${name}.stories.js`, `export default { title: '${name}' };\n`);
fs.writeFileSync(`${name}/${name}.test.js`, `import { ${name} } from './${name}.js';\n`);
console.log('created', name);
