#!/usr/bin/env node
const fs = require('fs');
const inActions = process.env.GITHUB_ACTIONS === 'true';
const inGitlab = !!process.env.GITLAB_CI;
const found = [];
for (const line of fs.readFileSync(0, 'utf8').split('\n')) {
  const m = line.match(/^(.+?):(\d+):(\d+)?:? *(warning|error): (.*)$/);
  if (!m) continue;
  const [, file, row, , level, msg] = m;
  found.push({ file, row, level, msg });
  if (inActions) console.log(`::${level} file=${file},line=${row}::${msg}`);
  else console.log(`${level.toUpperCase()} ${file}:${row} ${msg}`);
}
if (inActions && process.env.GITHUB_STEP_SUMMARY) {
  fs.appendFileSync(process.env.GITHUB_STEP_SUMMARY,
    '| file | line | message |\n|---|---|---|\n' + found.map(f => `| ${f.file} | ${f.row} | ${f.msg} |`).join('\n') + '\n');
}
if (inGitlab) fs.writeFileSync('gl-code-quality.json', JSON.stringify(found));
console.log(found.length, 'findings', process.env.CI ? '(CI)' : '(local)');
