#!/usr/bin/env node
import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';

const token = readFileSync(0, 'utf8').trim().replace(/^Bearer\s+/i, '');
const parts = token.split('.');
if (parts.length !== 3) { console.error(`not a JWT: ${parts.length} part(s), expected 3`); process.exit(2); }
const dec = (s) => JSON.parse(Buffer.from(s, 'base64url').toString('utf8'));
let header, claims;
try { [header, claims] = [dec(parts[0]), dec(parts[1])]; } catch (e) { console.error('cannot decode: ' + e.message); process.exit(2); }

console.log('header', JSON.stringify(header, null, 2));
console.log('claims', JSON.stringify(claims, null, 2));
const now = Date.now() / 1000;
const when = (s) => `${new Date(s * 1000).toISOString()} (${s < now ? '-' : '+'}${Math.round(Math.abs(s - now) / 60)} min)`;
for (const k of ['iat', 'nbf', 'exp']) if (typeof claims[k] === 'number') console.log(`${k}: ${when(claims[k])}`);
if (claims.exp && claims.exp < now) console.log('! expired');
if (claims.nbf && claims.nbf > now) console.log('! not valid yet');
if (!claims.exp) console.log('! no expiry');
if (String(header.alg).toLowerCase() === 'none') console.log('! alg none: unsigned');

if (process.argv.includes('--verify')) {
  const bits = /^HS(256|384|512)$/.exec(header.alg)?.[1];
  if (!bits) { console.error(`only HS256/384/512 here, token has ${header.alg}`); process.exit(2); }
  if (!process.env.JWT_SECRET) { console.error('set JWT_SECRET'); process.exit(2); }
  const want = createHmac('sha' + bits, process.env.JWT_SECRET).update(parts[0] + '.' + parts[1]).digest();
  const got = Buffer.from(parts[2], 'base64url');
  const ok = want.length === got.length && timingSafeEqual(want, got);
  console.log(ok ? 'signature ok' : 'SIGNATURE DOES NOT MATCH');
  process.exit(ok ? 0 : 1);
}
