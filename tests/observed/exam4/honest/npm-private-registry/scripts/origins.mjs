#!/usr/bin/env node
// Count the hosts that packages in package-lock.json were resolved from.
import { readFileSync } from 'node:fs';

const lock = JSON.parse(readFileSync(process.argv[2] ?? 'package-lock.json', 'utf8'));
const hosts = new Map();
for (const [path, p] of Object.entries(lock.packages ?? {})) {
  if (!p.resolved) continue;
  let host = 'file';
  try { host = new URL(p.resolved).host || 'file'; } catch {}
  if (!hosts.has(host)) hosts.set(host, []);
  hosts.get(host).push({ name: path.replace(/^.*node_modules\//, ''), hash: Boolean(p.integrity) });
}
for (const [host, list] of [...hosts].sort((a, b) => b[1].length - a[1].length)) {
  const bare = list.filter((x) => !x.hash);
  console.log(`${String(list.length).padStart(5)}  ${host}`);
  for (const x of bare.slice(0, 5)) console.log(`         no integrity hash: ${x.name}`);
}
