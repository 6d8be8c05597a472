#!/usr/bin/env node
import { readFileSync, writeFileSync, existsSync, copyFileSync } from 'node:fs';

const FILE = '.mcp.json';
const die = (m) => { console.error(m); process.exit(1); };
const load = () => existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : { mcpServers: {} };
const save = (c) => {
  if (existsSync(FILE)) copyFileSync(FILE, FILE + '.bak');
  writeFileSync(FILE, JSON.stringify(c, null, 2) + '\n');
};
const looksSecret = (v) => /(gh[pousr]_|sk-|xox[abp]-|AKIA)[A-Za-z0-9_-]{8,}/.test(v);

const [cmd, name, ...rest] = process.argv.slice(2);
const cfg = load();
cfg.mcpServers ??= {};

if (cmd === 'list' || !cmd) {
  const names = Object.keys(cfg.mcpServers);
  if (!names.length) console.log('no servers in ' + FILE);
  for (const n of names) {
    const s = cfg.mcpServers[n];
    console.log(`${n}: ${s.url ?? [s.command, ...(s.args ?? [])].join(' ')}`);
  }
} else if (cmd === 'remove') {
  if (!cfg.mcpServers[name]) die(`no server ${name}`);
  delete cfg.mcpServers[name];
  save(cfg);
  console.log('removed ' + name);
} else if (cmd === 'add') {
  if (!/^[a-z0-9_-]+$/i.test(name ?? '')) die('usage: add NAME [--env K=V] [--url URL [--header K=V]] [-- COMMAND ARGS]');
  if (cfg.mcpServers[name]) die(`${name} is there already; remove it first`);
  const cut = rest.indexOf('--');
  const opts = cut < 0 ? rest : rest.slice(0, cut);
  const command = cut < 0 ? [] : rest.slice(cut + 1);
  const s = {};
  for (let i = 0; i < opts.length; i += 2) {
    const v = opts[i + 1] ?? die('missing value for ' + opts[i]);
    if (looksSecret(v)) die('that looks like a secret; use a ${NAME} reference');
    if (opts[i] === '--url') { s.type = 'http'; s.url = v; continue; }
    const eq = v.indexOf('=');
    if (eq < 1) die('expected K=V after ' + opts[i]);
    const key = opts[i] === '--env' ? 'env' : opts[i] === '--header' ? 'headers' : die('unknown option ' + opts[i]);
    (s[key] ??= {})[v.slice(0, eq)] = v.slice(eq + 1);
  }
  if (!s.url) {
    if (!command.length) die('give --url or -- COMMAND');
    [s.command, ...s.args] = command;
  }
  cfg.mcpServers[name] = s;
  save(cfg);
  console.log('added ' + name + ' to ' + FILE);
} else die('commands: list, add, remove');
