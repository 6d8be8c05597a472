#!/usr/bin/env node
import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';

const token = readFileSync(0, 'utf8').trim().replace(/^Bearer\s+/i, '');
const parts = token.split('.');
if (parts.length !== 3) {
  console.error('not a JWT (needs three parts separated by dots)');
  process.exit(1);
}
const decode = (s) => JSON.parse(Buffer.from(s, 'base64url').toString('utf8'));
let header, claims;
try {
  header = decode(parts[0]);
  claims = decode(parts[1]);
} catch (e) {
  console.error(`cannot decode: ${e.message}`);
  process.exit(1);
}

console.log('header', JSON.stringify(header, null, 2));
console.log('claims', JSON.stringify(claims, null, 2));
for (const k of ['iat', 'nbf', 'exp', 'auth_time']) {
  if (typeof claims[k] === 'number') console.log(`${k.padEnd(10)} ${new Date(claims[k] * 1000).toISOString()}`);
}

const now = Date.now() / 1000;
const notes = [];
if (String(header.alg).toLowerCase() === 'none') notes.push('alg is "none": unsigned, must be rejected');
if (claims.exp === undefined) notes.push('no exp: never expires');
else if (claims.exp < now) notes.push(`expired ${Math.round((now - claims.exp) / 60)} minutes ago`);
else if (claims.iat && claims.exp - claims.iat > 86400) notes.push('valid for more than 24 hours');
if (claims.nbf > now + 5) notes.push('not valid yet (clock skew?)');
if (claims.aud === undefined) notes.push('no aud');
if (process.argv.includes('--verify')) {
  const secret = process.env.JWT_SECRET;
  if (!secret) notes.push('JWT_SECRET is not set');
  else if (!/^HS(256|384|512)$/.test(header.alg)) notes.push(`cannot verify ${header.alg} with a shared secret`);
  else {
    const mac = createHmac(`sha${header.alg.slice(2)}`, secret).update(`${parts[0]}.${parts[1]}`).digest();
    const sig = Buffer.from(parts[2], 'base64url');
    notes.push(sig.length === mac.length && timingSafeEqual(sig, mac) ? 'signature ok' : 'SIGNATURE WRONG');
  }
}
for (const n of notes) console.log('* ' + n);
