const fs = require('fs');
const [file = 'package.json', rootName = 'Root'] = process.argv.slice(2);
const out = new Map();
const pascal = s => s.replace(/(^|[^a-zA-Z0-9]+)([a-zA-Z0-9])/g, (_, __, c) => c.toUpperCase());

function typeOf(v, name) {
  if (v === null) return 'null';
  if (Array.isArray(v)) {
    const objs = v.filter(x => x && typeof x === 'object' && !Array.isArray(x));
    const kinds = new Set(v.filter(x => !objs.includes(x)).map(x => typeOf(x, name)));
    if (objs.length) kinds.add(iface(objs, name.replace(/s$/, '')));
    return kinds.size ? `Array<${[...kinds].join(' | ')}>` : 'unknown[]';
  }
  return typeof v === 'object' ? iface([v], name) : typeof v;
}

function iface(objs, name) {
  const n = pascal(name) || 'Item';
  const keys = [...new Set(objs.flatMap(Object.keys))];
  const body = keys.map(k => {
    const has = objs.filter(o => k in o);
    const types = new Set(has.map(o => typeOf(o[k], k)));
    return `  ${/^[\w$]+$/.test(k) ? k : JSON.stringify(k)}${has.length < objs.length ? '?' : ''}: ${[...types].join(' | ')};`;
  });
  out.set(n, `export interface ${n} {\n${body.join('\n')}\n}`);
  return n;
}
typeOf(JSON.parse(fs.readFileSync(file, 'utf8')), rootName);
console.log('// generated from ' + file + '\n' + [...out.values()].reverse().join('\n\n'));
