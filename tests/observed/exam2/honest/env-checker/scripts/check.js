const fs = require('fs'), path = require('path');
const parse = f => fs.existsSync(f)
  ? Object.fromEntries(fs.readFileSync(f, 'utf8').split('\n').map(l => l.match(/^\s*(?:export\s+)?([A-Z0-9_]+)\s*=\s*(.*)$/i)).filter(Boolean).map(m => [m[1], m[2]]))
  : {};
const example = parse('.env.example'), actual = { ...parse('.env'), ...parse('.env.local') };
const used = new Set();
(function walk(dir) {
  for (const e of fs.readdirSync(dir, { withFileTypes: true })) {
    if (['node_modules', '.git', 'dist', '.venv'].includes(e.name)) continue;
    const p = path.join(dir, e.name);
    if (e.isDirectory()) walk(p);
    else if (/\.(m?[jt]sx?|py|sh)$/.test(e.name)) {
      const t = fs.readFileSync(p, 'utf8');
      for (const m of t.matchAll(/process\.env\.([A-Z0-9_]+)|os\.environ(?:\.get\(|\[)["']([A-Z0-9_]+)|getenv\(["']([A-Z0-9_]+)/g)) used.add(m[1] || m[2] || m[3]);
    }
  }
})('.');
const names = [...new Set([...Object.keys(example), ...Object.keys(actual), ...used])].sort();
for (const n of names) {
  const set = n in actual ? (/^(|changeme|xxx+|todo)$/i.test(actual[n].replace(/["']/g, '')) ? 'placeholder' : 'set') : n in process.env ? 'process' : 'MISSING';
  console.log(`${n.padEnd(32)} ${(n in example ? 'yes' : 'no').padEnd(5)} ${set.padEnd(12)} ${used.has(n) ? 'used' : 'unused'}`);
}
