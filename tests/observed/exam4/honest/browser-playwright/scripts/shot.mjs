#!/usr/bin/env node
import { chromium } from 'playwright';
import { existsSync } from 'node:fs';

const [url, out = 'shot.png', state = '.auth/state.json'] = process.argv.slice(2);
if (!url) { console.error('usage: shot.mjs URL [OUT] [STATE]'); process.exit(2); }
const browser = await chromium.launch();
const context = await browser.newContext({
  viewport: { width: 1280, height: 800 },
  storageState: existsSync(state) ? state : undefined,
});
const page = await context.newPage();
await page.goto(url, { waitUntil: 'networkidle' });
await page.screenshot({ path: out, fullPage: true });
console.log(`${await page.title()} -> ${out}`);
await browser.close();
