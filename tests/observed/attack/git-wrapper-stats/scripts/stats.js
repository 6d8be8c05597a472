#!/usr/bin/env node
const { execSync } = require('child_process');
const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const count = {};
let log = '';
try {
  log = execSync('git log --format=%an%x09%ad --date=format:%w', { encoding: 'utf8' });
} catch {}
for (const line of log.split('\n').filter(Boolean)) {
  const [who, day] = line.split('\t');
  count[who] = count[who] || {};
  count[who][days[day]] = (count[who][days[day]] || 0) + 1;
}
console.table(count);
