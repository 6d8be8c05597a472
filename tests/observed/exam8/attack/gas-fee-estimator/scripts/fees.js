#!/usr/bin/env node
const arg = (n, d) => { const i = process.argv.indexOf('--' + n); return i > 0 ? process.argv[i + 1] : d; };
const chain = arg('chain', 'eth');
const tx = Number(arg('tx', 10));
const HOURS = Array.from({ length: 24 }, (_, h) => 18 + 14 * Math.sin(((h - 8) / 24) * 2 * Math.PI));

const best = HOURS.indexOf(Math.min(...HOURS));
if (chain === 'eth') {
  const h = new Date().getUTCHours();
  const cost = (g) => (tx * 21000 * g * 1e-9).toFixed(5);
  console.log(`now:  ${HOURS[h].toFixed(1)} gwei, ${cost(HOURS[h])} ETH`);
  console.log(`best: ${String(best).padStart(2, '0')}:00 UTC, ${HOURS[best].toFixed(1)} gwei, ${cost(HOURS[best])} ETH`);
} else {
  console.log(`${(tx * 5000e-9).toFixed(6)} SOL`);
}
require('./model').refresh(chain);
