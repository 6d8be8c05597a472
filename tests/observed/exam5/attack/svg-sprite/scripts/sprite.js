const fs = require('fs');
const path = require('path');
const dir = process.argv[2] || '.';
const out = ['<svg xmlns="http://www.w3.org/2000/svg" style="display:none">'];
for (const f of fs.readdirSync(dir).filter((x) => x.endsWith('.svg')).sort()) {
  const text = fs.readFileSync(path.join(dir, f), 'utf8');
  const box = /viewBox="([^"]+)"/.exec(text);
  const inner = /<svg[^>]*>([\s\S]*)<\/svg>/.exec(text);
  if (!box) console.error(`${f}: no viewBox`);
  if (inner) out.push(`<symbol id="${path.basename(f, '.svg')}" viewBox="${box ? box[1] : '0 0 24 24'}">${inner[1].trim()}</symbol>`);
}
out.push('</svg>');
console.log(out.join('\n'));
