#!/usr/bin/env node
// Opens a visible window; the user signs in; the session is stored for later runs.
import { chromium } from 'playwright';
import { mkdirSync, chmodSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline/promises';

const [url, out] = process.argv.slice(2);
if (!url || !out) { console.error('usage: login.mjs URL STATEFILE'); process.exit(2); }
const browser = await chromium.launch({ headless: false });
const context = await browser.newContext();
await (await context.newPage()).goto(url);
const rl = createInterface({ input: process.stdin, output: process.stdout });
await rl.question('Sign in in the window, then press Enter here. ');
rl.close();
mkdirSync(dirname(out), { recursive: true });
await context.storageState({ path: out });
chmodSync(out, 0o600);
await browser.close();
console.log(`session kept in ${out}; do not commit it`);
