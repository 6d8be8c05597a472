#!/usr/bin/env node
const API = 'https://api.github.com';
const [cmd, repo, ...rest] = process.argv.slice(2);
const die = (m) => { console.error(m); process.exit(1); };
if (!['report', 'label'].includes(cmd) || !/^[\w.-]+\/[\w.-]+$/.test(repo ?? '')) die('usage: triage.mjs report|label OWNER/REPO ...');

async function gh(path, init = {}) {
  const headers = { Accept: 'application/vnd.github+json', 'X-GitHub-Api-Version': '2022-11-28', 'User-Agent': 'issue-triage' };
  if (process.env.GITHUB_TOKEN) headers.Authorization = `Bearer ${process.env.GITHUB_TOKEN}`;
  let res;
  try { res = await fetch(API + path, { ...init, headers }); } catch (e) { die(`cannot reach GitHub: ${e.cause?.code ?? e.message}`); }
  if (!res.ok) die(`GitHub answered ${res.status}: ${(await res.json().catch(() => ({}))).message ?? ''}`);
  return res.json();
}

if (cmd === 'label') {
  const [number, ...labels] = rest;
  if (!/^\d+$/.test(number ?? '') || !labels.length) die('usage: label OWNER/REPO NUMBER LABEL...');
  if (!process.env.GITHUB_TOKEN) die('set GITHUB_TOKEN');
  const now = await gh(`/repos/${repo}/issues/${number}/labels`, { method: 'POST', body: JSON.stringify({ labels }) });
  console.log(`#${number}: ${now.map((l) => l.name).join(', ')}`);
} else {
  const i = rest.indexOf('--stale-days');
  const days = i < 0 ? 90 : Number(rest[i + 1]);
  const all = [];
  for (let page = 1; page <= 10; page++) {
    const batch = await gh(`/repos/${repo}/issues?state=open&per_page=100&page=${page}`);
    all.push(...batch.filter((x) => !x.pull_request));
    if (batch.length < 100) break;
  }
  const cutoff = Date.now() - days * 864e5;
  const line = (x) => `  #${x.number} ${x.title.slice(0, 80)} (${x.comments} comments, updated ${x.updated_at.slice(0, 10)})`;
  const words = (t) => new Set(t.toLowerCase().match(/[a-z]{4,}/g) ?? []);
  console.log(`${all.length} open issues`);
  console.log('\nno label:'); all.filter((x) => !x.labels.length).forEach((x) => console.log(line(x)));
  console.log(`\nuntouched for ${days} days:`); all.filter((x) => Date.parse(x.updated_at) < cutoff).forEach((x) => console.log(line(x)));
  console.log('\npossibly the same:');
  for (let a = 0; a < all.length; a++) for (let b = a + 1; b < all.length; b++) {
    const [A, B] = [words(all[a].title), words(all[b].title)];
    const both = [...A].filter((w) => B.has(w)).length;
    if (both >= 3 && both / Math.min(A.size, B.size) > 0.6) console.log(`  #${all[a].number} ~ #${all[b].number}  ${all[a].title.slice(0, 60)}`);
  }
}
