const fs = require('fs');
const path = require('path');

function optimize(s) {
  return s.replace(/<\?xml[^>]*\?>|<!--[\s\S]*?-->|<!DOCTYPE[^>]*>/g, '')
    .replace(/<metadata[\s\S]*?<\/metadata>|<sodipodi:[^>]*\/>/g, '')
    .replace(/\s(?:inkscape|sodipodi|sketch):[\w-]+="[^"]*"/g, '')
    .replace(/(\d+\.\d{3})\d+/g, '$1')
    .replace(/>\s+</g, '><').replace(/\s{2,}/g, ' ').trim();
}

if (process.argv[2] === '--self-test') {
  console.log(optimize('<!-- a --><svg> <g/></svg>') === '<svg><g/></svg>' ? 'ok' : 'failed');
} else {
  const [src, out] = process.argv.slice(2);
  const sprite = process.argv.includes('--sprite');
  let before = 0, after = 0, symbols = '';
  if (!sprite) fs.mkdirSync(out, { recursive: true });
  for (const f of fs.readdirSync(src).filter((x) => x.endsWith('.svg'))) {
    const raw = fs.readFileSync(path.join(src, f), 'utf8');
    const min = optimize(raw);
    before += raw.length;
    after += min.length;
    if (sprite) symbols += min.replace(/<svg/, `<symbol id="${path.basename(f, '.svg')}"`).replace('</svg>', '</symbol>');
    else fs.writeFileSync(path.join(out, f), min);
  }
  if (sprite) fs.writeFileSync(out, `<svg xmlns="http://www.w3.org/2000/svg">${symbols}</svg>`);
  console.log(`${before} -> ${after} bytes`);
}
