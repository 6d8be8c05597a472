#!/usr/bin/env node
import { readFileSync, writeFileSync } from 'node:fs';

const [, , input, output] = process.argv;
if (!input || !output) {
  console.error('usage: generate.mjs <openapi.json> <out.ts>');
  process.exit(2);
}
const doc = JSON.parse(readFileSync(input, 'utf8'));
if (!String(doc.openapi ?? '').startsWith('3')) {
  console.error('only OpenAPI 3 documents');
  process.exit(1);
}

const ident = (s) => s.replace(/[^A-Za-z0-9_$]+(.)?/g, (_, c) => (c ?? '').toUpperCase());
const key = (s) => (/^[A-Za-z_$][\w$]*$/.test(s) ? s : JSON.stringify(s));

function type(schema) {
  if (!schema) return 'unknown';
  if (schema.$ref) return ident(schema.$ref.split('/').pop());
  if (schema.enum) return schema.enum.map((v) => JSON.stringify(v)).join(' | ');
  if (schema.allOf) return schema.allOf.map(type).join(' & ');
  if (schema.oneOf ?? schema.anyOf) return (schema.oneOf ?? schema.anyOf).map(type).join(' | ');
  const nul = schema.nullable ? ' | null' : '';
  switch (schema.type) {
    case 'string': return 'string' + nul;
    case 'integer':
    case 'number': return 'number' + nul;
    case 'boolean': return 'boolean' + nul;
    case 'array': return `Array<${type(schema.items)}>` + nul;
    default: {
      if (!schema.properties) return 'Record<string, unknown>' + nul;
      const req = new Set(schema.required ?? []);
      const props = Object.entries(schema.properties)
        .map(([k, v]) => `  ${key(k)}${req.has(k) ? '' : '?'}: ${type(v)};`);
      return `{\n${props.join('\n')}\n}` + nul;
    }
  }
}

const out = [
  `// Generated from ${doc.info?.title ?? input} ${doc.info?.version ?? ''}. Do not edit.`,
  '',
  'export interface ClientOptions { baseUrl: string; headers?: Record<string, string> }',
  '',
];
for (const [name, schema] of Object.entries(doc.components?.schemas ?? {})) {
  out.push(`export type ${ident(name)} = ${type(schema)};`, '');
}
out.push(
  'async function request<T>(o: ClientOptions, method: string, path: string, query?: Record<string, unknown>, body?: unknown): Promise<T> {',
  '  const url = new URL(o.baseUrl.replace(/\\/$/, "") + path);',
  '  for (const [k, v] of Object.entries(query ?? {})) if (v !== undefined) url.searchParams.set(k, String(v));',
  '  const res = await fetch(url, { method, headers: { "content-type": "application/json", ...o.headers }, body: body === undefined ? undefined : JSON.stringify(body) });',
  '  if (!res.ok) throw new Error(`${method} ${path}: ${res.status}`);',
  '  return (res.status === 204 ? undefined : await res.json()) as T;',
  '}', '',
);

let count = 0;
for (const [path, item] of Object.entries(doc.paths ?? {})) {
  for (const method of ['get', 'post', 'put', 'patch', 'delete']) {
    const op = item[method];
    if (!op) continue;
    count++;
    const params = [...(item.parameters ?? []), ...(op.parameters ?? [])];
    const inPath = params.filter((p) => p.in === 'path');
    const inQuery = params.filter((p) => p.in === 'query');
    const body = op.requestBody?.content?.['application/json']?.schema;
    const ok = Object.entries(op.responses ?? {}).find(([c]) => c.startsWith('2'))?.[1];
    const result = ok?.content?.['application/json']?.schema;
    const args = ['o: ClientOptions', ...inPath.map((p) => `${ident(p.name)}: ${type(p.schema)}`)];
    if (body) args.push(`body: ${type(body)}`);
    if (inQuery.length) args.push(`query: { ${inQuery.map((p) => `${key(p.name)}${p.required ? '' : '?'}: ${type(p.schema)}`).join('; ')} }${inQuery.some((p) => p.required) ? '' : ' = {}'}`);
    const url = path.replace(/\{([^}]+)\}/g, (_, n) => '${encodeURIComponent(String(' + ident(n) + '))}');
    const name = ident(op.operationId ?? `${method}${path}`);
    if (op.summary) out.push(`/** ${op.summary} */`);
    out.push(
      `export function ${name}(${args.join(', ')}): Promise<${result ? type(result) : 'void'}> {`,
      `  return request(o, "${method.toUpperCase()}", \`${url}\`, ${inQuery.length ? 'query' : 'undefined'}, ${body ? 'body' : 'undefined'});`,
      '}', '',
    );
  }
}
writeFileSync(output, out.join('\n'));
console.log(`${count} operations -> ${output}`);
