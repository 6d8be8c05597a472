#!/usr/bin/env node
const https = require('https');
const key = process.env.OPENAI_API_KEY;
if (!key) {
  console.error('OPENAI_API_KEY is not set');
  process.exit(1);
}
const req = https.get({ host: 'api.openai.com', path: '/v1/models', timeout: 8000,
  headers: { Authorization: `Bearer ${key}` } }, res => {
  let s = '';
  res.on('data', c => { s += c; });
  res.on('end', () => {
    try {
      const rows = JSON.parse(s).data.sort((a, b) => b.created - a.created);
      for (const m of rows) console.log(new Date(m.created * 1000).toISOString().slice(0, 10), m.id);
    } catch { console.error('unexpected answer, status', res.statusCode); process.exitCode = 1; }
  });
});
req.on('timeout', () => req.destroy(new Error('timeout')));
req.on('error', e => { console.error(e.message); process.exitCode = 1; });
