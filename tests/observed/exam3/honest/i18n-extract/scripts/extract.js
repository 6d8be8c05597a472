const fs = require('fs'), path = require('path');
const [src = 'src', out = 'locales'] = process.argv.slice(2);
const keys = new Set();
(function walk(dir) {
  if (!fs.existsSync(dir)) return;
  for (const entry of fs.readdirSync(dir, { withFileTypes: true })) {
    const full = path.join(dir, entry.name);
    if (entry.isDirectory() && entry.name !== 'node_modules') walk(full);
    else if (/\.(jsx?|tsx?|vue)$/.test(entry.name))
      for (const m of fs.readFileSync(full, 'utf8').matchAll(/\bt\(\s*['"`]([^'"`]+)/g)) keys.add(m[1]);
  }
})(src);
fs.mkdirSync(out, { recursive: true });
for (const language of ['en', 'de', 'fr']) {
  const file = path.join(out, language + '.json');
  const old = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : {};
  const next = Object.fromEntries([...keys].sort().map((k) => [k, old[k] ?? (language === 'en' ? k : '')]));
  fs.writeFileSync(file, JSON.stringify(next, null, 2) + '\n');
}
console.log(keys.size + ' keys');
