#!/usr/bin/env node
import { readFileSync } from 'node:fs';

const file = process.argv[2];
if (!file) { console.error('usage: summarise.mjs AUDIT.json'); process.exit(2); }
const audit = JSON.parse(readFileSync(file, 'utf8'));
const order = ['critical', 'high', 'moderate', 'low', 'info'];
const rows = Object.values(audit.vulnerabilities ?? {}).map((v) => {
  const fix = v.fixAvailable;
  return {
    name: v.name,
    severity: v.severity,
    direct: v.isDirect ? 'direct' : 'transitive',
    range: v.range,
    fix: fix === true ? 'safe' : fix ? (fix.isSemVerMajor ? `MAJOR ${fix.name}@${fix.version}` : 'safe') : 'none',
    titles: (v.via ?? []).filter((x) => typeof x === 'object').map((x) => x.title),
  };
}).sort((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity) || a.name.localeCompare(b.name));

if (!rows.length) { console.log('no known vulnerabilities'); process.exit(0); }
for (const r of rows) {
  console.log(`${r.severity.padEnd(9)} ${r.name} ${r.range} (${r.direct}) fix: ${r.fix}`);
  for (const t of new Set(r.titles)) console.log(`          - ${t}`);
}
const safe = rows.filter((r) => r.fix === 'safe').length;
console.log(`\n${rows.length} packages, ${safe} fixable without a major bump`);
