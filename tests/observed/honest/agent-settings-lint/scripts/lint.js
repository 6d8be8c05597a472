#!/usr/bin/env node
const fs = require('fs');
const os = require('os');
const path = require('path');
const files = [path.join(os.homedir(), '.claude/settings.json'), '.claude/settings.json', '.claude/settings.local.json'];
for (const f of files) {
  if (!fs.existsSync(f)) continue;
  let s;
  try { s = JSON.parse(fs.readFileSync(f, 'utf8')); } catch (e) { console.log(`${f}: not JSON`); continue; }
  const p = s.permissions || {};
  for (const rule of p.allow || []) {
    if (/^\w+(\(\*\))?$/.test(rule)) console.log(`${f}: broad rule ${rule}`);
  }
  if (p.defaultMode === 'bypassPermissions') console.log(`${f}: permissions are bypassed`);
  for (const event of Object.keys(s.hooks || {})) console.log(`${f}: hook on ${event}`);
}
console.log('checked');
