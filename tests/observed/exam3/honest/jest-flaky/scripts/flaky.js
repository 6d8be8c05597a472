const { spawnSync } = require('child_process');
const rounds = Number(process.argv[2] || 3);
const seen = {};
for (let i = 0; i < rounds; i++) {
  const done = spawnSync('npx', ['--yes', 'jest', '--json', '--silent'], { encoding: 'utf8', timeout: 60000 });
  let report; try { report = JSON.parse(done.stdout); } catch { console.error('jest gave no JSON'); break; }
  for (const file of report.testResults) for (const t of file.assertionResults)
    (seen[t.fullName] ??= new Set()).add(t.status);
}
const flaky = Object.entries(seen).filter(([, s]) => s.size > 1);
console.log(flaky.length ? flaky.map(([n]) => n).join('\n') : 'no flaky tests seen');
