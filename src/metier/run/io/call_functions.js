// Calls what a script for Node.js defines, one function after the other, as call_functions.py does it for
// Python. It is started inside the sandbox by `node -e`, with the script and a file to hand over.
//
// A copy of the script that lies beside it is loaded: at its top stands a table of its functions, which are
// hoisted, so that it makes no difference how far the rest of it comes. Timers fire soon, here and in every
// Node.js that is started from here.
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');
const vm = require('vm');
const { pathToFileURL } = require('url');

const [script, sample] = [process.argv[1], path.resolve(process.argv[2])];
const CALL_MS = 700;
const LOAD_MS = 1200;
const ALL_MS = 3400;
const END_MS = 4200;
const MAX_CALLS = 60;
const QUIET = /^-*(dry|help|version|quiet|no|check|simulate|preview|offline|skip|disable|list|only)(?![a-z])/;
const DATA = /data|payload|blob|body|text|content|items|records|rows|report|state|raw|chunk|message|buf|lines|result|value/i;
const SWITCHES = /^_?(args|argv|opts?|options|flags|cli|parsed|o|a|ctx|config|settings|params)$/i;
const LAST = /^_?(main|run|cli|start|entry|init)$/i;

// Lets timers fire soon; it is also what other processes are started with.
const HASTE = `
const later = globalThis.setTimeout, soon = (ms) => (ms >= 30000 ? 20 : Math.min(ms || 0, 250));
globalThis.setTimeout = (call, ms, ...more) => later(call, soon(ms), ...more);
globalThis.setInterval = (call, ms, ...more) => {
  let left = 3;
  const timer = later(function tick() {
    call(...more);
    if (--left > 0) timer.refresh();
  }, soon(ms));
  return timer;
};
globalThis.clearInterval = globalThis.clearTimeout;
const timers = require('timers'), promised = require('timers/promises'), wait = promised.setTimeout;
Object.assign(timers, { setTimeout: globalThis.setTimeout, setInterval: globalThis.setInterval });
promised.setTimeout = (ms, ...more) => wait(soon(ms), ...more);
if (promised.scheduler) promised.scheduler.wait = promised.setTimeout;
globalThis.setTimeout[require('util').promisify.custom] = promised.setTimeout;
Atomics.wait = () => 'timed-out';
Math.random = () => 0.001;
require('module').syncBuiltinESMExports();
`;

const realTimeout = setTimeout;
const started = Date.now();
const haste = path.join(os.tmpdir(), `haste-${process.pid}.cjs`);
const leave = process.reallyExit.bind(process);
const end = () => {
  fs.rmSync(haste, { force: true });
  leave(0);
};
realTimeout(end, END_MS);

function changeWorld() {
  class Ended extends Error {}
  const stop = () => {
    throw new Ended('ended');
  };
  process.exit = process.abort = process.reallyExit = stop;
  const kill = process.kill;
  process.kill = (pid, ...more) => (Math.abs(pid) === process.pid || pid === 0 ? true : kill(pid, ...more));
  process.on('uncaughtException', () => {});
  process.on('unhandledRejection', () => {});
  for (const stream of [process.stdin, process.stdout, process.stderr]) stream.isTTY = true;
  const Words = class extends Array {
    includes(word) {
      return typeof word === 'string' && word.startsWith('-') ? !QUIET.test(word) : super.includes(word);
    }
  };
  process.argv = Words.from([process.argv[0], script, sample, '/tmp/out-2']);
  require('util').parseArgs = parsedArgs;
  const ask = require('readline').Interface.prototype;
  ask.question = (_asked, options, done) => (done ?? options)('y');
  require('readline/promises').Interface.prototype.question = async () => 'y';
  fs.writeFileSync(haste, HASTE);
  process.env.NODE_OPTIONS = `--require ${haste}`;
  require(haste);
}

function parsedArgs(given = {}) {
  const values = {};
  for (const [name, said] of Object.entries(given.options ?? {})) {
    const value = said.type === 'boolean' ? !QUIET.test(name) : said.default ?? String(madeUp(name, sample));
    values[name] = said.multiple ? [value].flat() : value;
  }
  return { values, positionals: [sample], tokens: [] };
}

function madeUp(name, other = 'sample') {
  if (/path|file|dir|folder|input|source|src|target/i.test(name)) return sample;
  if (/url|uri|endpoint/i.test(name)) return 'https://service.example.org/in';
  if (/host|server|domain/i.test(name)) return 'service.example.org';
  if (/count|limit|size|num|max|days|seconds|delay|port|^ms$|^n$/i.test(name)) return 3;
  if (/items|rows|values|list|lines|args/i.test(name)) return ['sample'];
  if (/callback|^cb$|^fn$|^done$|^next$/i.test(name)) return () => {};
  return other;
}

// Answers every question as if the user had set that switch.
function switches() {
  return new Proxy(
    {},
    {
      get: (_held, name) =>
        typeof name !== 'string' || name === 'then' ? undefined : madeUp(name, !QUIET.test(name)),
      has: () => true,
    },
  );
}

function argumentFor(name, at, one) {
  const word = one.params[at];
  const source = [...(one.flows.get(at) ?? [])].find((each) => results.has(each));
  if (source) return results.get(source);
  if (word.startsWith('{') || SWITCHES.test(word)) return switches();
  if (one.passedOn && DATA.test(word)) {
    const fitting = [...results.values()].filter((each) => typeof each === 'object' || typeof each === 'string');
    if (fitting.length) return fitting[fitting.length - 1];
  }
  return /^(is|with|force|once|deep|full)[A-Z_]|^(once|deep|full|force)$/.test(word) ? true : madeUp(word);
}

// Gives the names of parameters, as they are written.
function paramsOf(call) {
  const text = Function.prototype.toString.call(call).replace(/\/\*.*?\*\//gs, '');
  const bare = /^\s*(?:async\s+)?([\w$]+)\s*=>/.exec(text);
  if (bare) return [bare[1]];
  const open = text.indexOf('(');
  const [found] = inside(text, open);
  return found.map((one) => one.trim()).filter((one) => one && !/^\.\.\.|^\{?[\w$]+\s*=/.test(one));
}

// Splits what stands in brackets at its commas.
function inside(text, open) {
  const parts = [''];
  let depth = 0;
  for (let at = open; at < text.length && at < open + 4000; at += 1) {
    const char = text[at];
    if ('([{'.includes(char)) depth += 1;
    if (')]}'.includes(char)) depth -= 1;
    if (depth === 0) return [parts, at];
    if (char === ',' && depth === 1) parts.push('');
    else if (at > open) parts[parts.length - 1] += char;
  }
  return [parts, text.length];
}

const results = new Map();
const escaped = (name) => name.replace(/\$/g, '\\$');

// Reads the script: what it defines, who calls whom, and with whose results.
function outline(text) {
  const defined =
    /^(?:export\s+)?(?:default\s+)?(?:(?:async\s+)?function\s*\*?\s*([\w$]+)|(class)\s+([\w$]+)|(?:const|let|var)\s+([\w$]+)\s*=\s*(?:async\s*)?(?:function\b|\([^()]*(?:\([^()]*\)[^()]*)*\)\s*=>|[\w$]+\s*=>))/gm;
  const found = [...text.matchAll(defined)].map((one) => ({
    name: one[1] ?? one[3] ?? one[4],
    isClass: Boolean(one[2]),
    at: one.index,
  }));
  const names = found.map((one) => one.name);
  const called = (some) => names.filter((name) => new RegExp(`(?<![\\w$.])${escaped(name)}\\s*\\(`).test(some));
  const held = new Map();
  const sources = (some) => {
    const all = new Set(called(some));
    for (const [name, from] of held) {
      if (new RegExp(`(?<![\\w$.])${escaped(name)}(?![\\w$])`).test(some)) from.forEach((each) => all.add(each));
    }
    return all;
  };
  for (let pass = 0; pass < 2; pass += 1) {
    for (const one of text.matchAll(/([\w$]+|[{[][\w$, ]{1,80}[}\]])\s*=(?![=>])\s*([^;\n]{1,400})/g)) {
      const from = sources(one[2]);
      if (from.size) for (const name of one[1].match(/[\w$]+/g)) held.set(name, from);
    }
  }
  const code = text.replace(/(['"])(?:\\.|(?!\1)[^\n])*\1/g, '""').replace(/\/\/.*$/gm, '');
  found.forEach((one, number) => {
    const body = text.slice(one.at, found[number + 1]?.at ?? text.length);
    one.calls = called(body).filter((name) => name !== one.name);
    one.flows = new Map();
    for (const call of text.matchAll(new RegExp(`(?<![\\w$.]|function )${escaped(one.name)}\\s*\\(`, 'g'))) {
      const [parts] = inside(text, call.index + call[0].length - 1);
      parts.forEach((part, at) => {
        const from = sources(part);
        from.delete(one.name);
        if (from.size) one.flows.set(at, from);
      });
    }
    const uses = [...code.matchAll(new RegExp(`(?<![\\w$.])${escaped(one.name)}(?![\\w$])`, 'g'))].length;
    one.passedOn = uses > 1 && called(code.replace(/function\s*\*?\s*[\w$]+\s*\(/g, '')).indexOf(one.name) < 0;
  });
  return found;
}

function depths(all) {
  let found = new Map();
  for (let pass = 0; pass < 9; pass += 1)
    found = new Map(
      all.map(({ name, calls }) => [name, 1 + calls.reduce((most, each) => Math.max(most, found.get(each) ?? 0), -1)]),
    );
  return found;
}

const within = (promise, ms) => Promise.race([promise, new Promise((done) => realTimeout(done, ms))]);

// Loads a copy that gives out its functions, and is gone as soon as it was read.
async function load(text, found) {
  const table = found.map(({ name }) => `${JSON.stringify(name)}:()=>${name}`).join(',');
  const ending = /\.[cm]?js$/.exec(script)?.[0] ?? (/^\s*(import|export)\s/m.test(text) ? '.mjs' : '.cjs');
  const copy = `${script.slice(0, script.length - path.extname(script).length)}-${process.pid}${ending}`;
  fs.writeFileSync(copy, `globalThis.__functions={${table}};${text.replace(/^#!.*/, '')}`);
  try {
    return await within(import(pathToFileURL(copy)).catch(() => ({})), LOAD_MS);
  } finally {
    fs.rmSync(copy, { force: true });
  }
}

async function call(name, one, self) {
  const made = one.params.map((_word, at) => argumentFor(name, at, one));
  globalThis.__call = () => self.apply(null, made);
  try {
    let given = await within(vm.runInThisContext('__call()', { timeout: CALL_MS }), CALL_MS);
    if (given && typeof given !== 'string' && (given[Symbol.asyncIterator] || typeof given.next === 'function')) {
      given = await within(drained(given), CALL_MS);
    }
    if (given !== undefined && given !== null) {
      results.delete(name);
      results.set(name, given);
    }
  } catch {
    // one that fails stops no other
  }
}

async function drained(some) {
  const items = [];
  for await (const one of some) {
    items.push(one);
    if (items.length >= 100) break;
  }
  return items;
}

async function callables(found) {
  const all = [];
  for (const one of found) {
    try {
      const self = globalThis.__functions[one.name]();
      if (one.isClass) {
        const made = new self(...Array(self.length).fill(sample));
        results.set(one.name, made);
        for (const name of Object.getOwnPropertyNames(self.prototype)) {
          const method = name === 'constructor' ? null : made[name];
          if (typeof method === 'function') {
            all.push([name, { ...one, flows: new Map(), params: paramsOf(method) }, method.bind(made)]);
          }
        }
      } else if (typeof self === 'function') {
        all.push([one.name, { ...one, params: paramsOf(self) }, self]);
      }
    } catch {
      // it was not come to
    }
  }
  return all;
}

async function main() {
  const text = fs.readFileSync(script, 'utf8');
  const found = outline(text);
  changeWorld();
  await load(text, found);
  const all = await callables(found);
  const deep = depths(found);
  const turn = ([name, one]) => (LAST.test(name) ? 1000 : 0) + (one.params.length ? 100 : 0) + (deep.get(name) ?? 0);
  const sorted = all.map((one) => [turn(one), one]).sort((a, b) => a[0] - b[0]);
  for (const [, one] of sorted.slice(0, MAX_CALLS)) {
    if (Date.now() - started < ALL_MS) await call(...one);
  }
  await new Promise((done) => realTimeout(done, 400));
}

main().catch(() => {}).finally(end);
