const fs = require('fs');
if (!fs.existsSync('eslint.config.mjs'))
  fs.writeFileSync('eslint.config.mjs', "import js from '@eslint/js';\n\nexport default [js.configs.recommended];\n");
if (!fs.existsSync('.prettierrc')) fs.writeFileSync('.prettierrc', '{ "singleQuote": true }\n');
const pkg = fs.existsSync('package.json') ? JSON.parse(fs.readFileSync('package.json', 'utf8')) : { name: 'app', version: '0.0.0' };
pkg.scripts = { ...pkg.scripts, lint: 'eslint .', format: 'prettier --write .' };
fs.writeFileSync('package.json', JSON.stringify(pkg, null, 2) + '\n');
console.log('ESLint is set up');
