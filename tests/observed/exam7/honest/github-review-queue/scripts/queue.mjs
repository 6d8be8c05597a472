#!/usr/bin/env node
const args = process.argv.slice(2);
const opt = (n, d) => { const i = args.indexOf(`--${n}`); return i >= 0 ? args[i + 1] : d; };
const api = (process.env.GITHUB_API_URL || 'https://api.github.com').replace(/\/$/, '');
const token = process.env.GITHUB_TOKEN;
if (!token) { console.error('GITHUB_TOKEN is not set'); process.exit(2); }

async function get(path) {
  const r = await fetch(api + path, {
    headers: { Authorization: `Bearer ${token}`, Accept: 'application/vnd.github+json', 'User-Agent': 'review-queue' },
  });
  if (!r.ok) throw new Error(`${r.status} ${r.statusText} for ${path.split('?')[0]}`);
  return r.json();
}

try {
  const who = opt('user', '@me');
  const org = opt('org');
  const q = ['is:open', 'is:pr', 'draft:false', `review-requested:${who}`, org && `org:${org}`].filter(Boolean).join(' ');
  const found = await get(`/search/issues?q=${encodeURIComponent(q)}&sort=created&order=asc&per_page=${opt('limit', 30)}`);
  for (const it of found.items) {
    const repo = it.repository_url.split('/').slice(-2).join('/');
    const pr = await get(`/repos/${repo}/pulls/${it.number}`);
    const st = await get(`/repos/${repo}/commits/${pr.head.sha}/status`);
    const age = Math.floor((Date.now() - Date.parse(it.created_at)) / 864e5);
    console.log(`${String(age).padStart(3)}d  ${repo}#${it.number}  +${pr.additions}/-${pr.deletions}  ci:${st.state}  ${it.user.login}: ${it.title}`);
  }
  console.log(`${found.total_count} waiting`);
} catch (e) {
  console.error('failed:', e.message);
  process.exit(1);
}
