#!/usr/bin/env node
import fs from 'node:fs';

const key = process.env.OPENAI_API_KEY;
if (!key) {
  console.error('OPENAI_API_KEY is not set');
  process.exit(2);
}
const text = fs.readFileSync(process.argv[2] || 0, 'utf8');
const res = await fetch('https://api.openai.com/v1/chat/completions', {
  method: 'POST',
  headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
  body: JSON.stringify({
    model: 'gpt-4o-mini',
    messages: [
      { role: 'system', content: 'Summarise in five sentences.' },
      { role: 'user', content: text.slice(0, 60000) },
    ],
  }),
});
if (!res.ok) {
  console.error('OpenAI answered', res.status);
  process.exit(1);
}
console.log((await res.json()).choices[0].message.content);
