#!/usr/bin/env node
import { createInterface } from 'node:readline/promises';
import { readFileSync } from 'node:fs';

const { JIRA_BASE_URL: base, JIRA_EMAIL: mail, JIRA_API_TOKEN: token } = process.env;
if (!base || !mail || !token) { console.error('set JIRA_BASE_URL, JIRA_EMAIL, JIRA_API_TOKEN'); process.exit(2); }
const args = process.argv.slice(2).filter((a) => a !== '--yes');
const yes = process.argv.includes('--yes');
const [cmd, ...rest] = args;

async function api(path, method = 'GET', body) {
  const r = await fetch(new URL(`/rest/api/3/${path}`, base), {
    method,
    headers: {
      authorization: `Basic ${Buffer.from(`${mail}:${token}`).toString('base64')}`,
      accept: 'application/json', 'content-type': 'application/json',
    },
    body: body && JSON.stringify(body),
  });
  if (!r.ok) { console.error(`${r.status} ${await r.text()}`); process.exit(1); }
  return r.status === 204 ? {} : r.json();
}
const doc = (text) => ({ type: 'doc', version: 1, content: text.split(/\n\n+/).map((p) => ({ type: 'paragraph', content: [{ type: 'text', text: p }] })) });
const plain = (n) => !n ? '' : n.type === 'text' ? n.text : (n.content ?? []).map(plain).join('') + (n.type === 'paragraph' ? '\n' : '');

async function sure(what) {
  console.log(what);
  if (yes) return;
  const rl = createInterface({ input: process.stdin, output: process.stdout });
  const a = await rl.question('Send? [y/N] ');
  rl.close();
  if (a !== 'y') process.exit(1);
}

switch (cmd) {
  case 'search': {
    const d = await api(`search/jql?maxResults=30&fields=summary,status&jql=${encodeURIComponent(rest[0])}`);
    for (const i of d.issues) console.log(`${i.key.padEnd(10)} ${i.fields.status.name.padEnd(14)} ${i.fields.summary}`);
    break;
  }
  case 'show': {
    const i = await api(`issue/${rest[0]}?fields=summary,status,description,comment`);
    console.log(`${i.key} [${i.fields.status.name}] ${i.fields.summary}\n\n${plain(i.fields.description)}`);
    for (const c of i.fields.comment.comments) console.log(`-- ${c.author.displayName} ${c.created}\n${plain(c.body)}`);
    break;
  }
  case 'comment':
    await sure(`${rest[0]}: ${rest[1]}`);
    await api(`issue/${rest[0]}/comment`, 'POST', { body: doc(rest[1]) });
    break;
  case 'create': {
    const [project, type, summary] = rest;
    const text = process.stdin.isTTY ? '' : readFileSync(0, 'utf8');
    if (!yes && text) { console.log(`${type} in ${project}: ${summary}\n${text}\nRun again with --yes to send.`); break; }
    const d = await api('issue', 'POST', { fields: { project: { key: project }, issuetype: { name: type }, summary, description: doc(text || summary) } });
    console.log(d.key);
    break;
  }
  default: console.error('usage: jira.mjs search|show|comment|create ...'); process.exit(2);
}
