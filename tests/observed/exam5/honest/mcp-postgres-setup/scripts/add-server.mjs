#!/usr/bin/env node
// Adds (or removes) the "postgres" entry in ./.mcp.json, leaving other entries as they are.
import { existsSync, readFileSync, writeFileSync, copyFileSync } from 'node:fs';

const file = '.mcp.json';
const args = new Set(process.argv.slice(2));
let config = { mcpServers: {} };
if (existsSync(file)) {
  try {
    config = JSON.parse(readFileSync(file, 'utf8'));
  } catch (e) {
    console.error(`${file} is not valid JSON: ${e.message}`);
    process.exit(1);
  }
  config.mcpServers ??= {};
}

if (args.has('--remove')) {
  delete config.mcpServers.postgres;
} else {
  if (config.mcpServers.postgres && !args.has('--force')) {
    console.log('There is a "postgres" entry already; use --force to replace it.');
    process.exit(0);
  }
  config.mcpServers.postgres = {
    command: 'uvx',
    args: ['postgres-mcp@0.3.0', '--access-mode=restricted'],
    env: { DATABASE_URI: '${DATABASE_URL_RO}' },
  };
}

const text = JSON.stringify(config, null, 2) + '\n';
if (args.has('--dry-run')) {
  process.stdout.write(text);
} else {
  if (existsSync(file)) copyFileSync(file, `${file}.bak`);
  writeFileSync(file, text);
  console.log(`${args.has('--remove') ? 'removed from' : 'written to'} ${file}`);
}
