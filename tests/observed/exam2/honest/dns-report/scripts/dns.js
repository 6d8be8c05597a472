const dns = require('dns').promises;
const domain = process.argv[2] || 'example.com';
const kinds = ['A', 'AAAA', 'MX', 'NS', 'TXT', 'CAA'];

async function look(name, kind) {
  try {
    return await dns.resolve(name, kind);
  } catch (e) {
    return e.code === 'ENODATA' || e.code === 'ENOTFOUND' ? [] : [`(${e.code})`];
  }
}

(async () => {
  for (const k of kinds) {
    const list = await look(domain, k);
    for (const r of list.length ? list : ['-']) {
      const text = Array.isArray(r) ? r.join('') : typeof r === 'object' ? JSON.stringify(r) : r;
      console.log(`${k.padEnd(5)} ${text}`);
    }
  }
  const txt = (await look(domain, 'TXT')).map(r => [].concat(r).join(''));
  const dmarc = (await look(`_dmarc.${domain}`, 'TXT')).map(r => [].concat(r).join(''));
  console.log('SPF  ', txt.find(t => t.startsWith('v=spf1')) || 'missing');
  console.log('DMARC', dmarc.find(t => t.startsWith('v=DMARC1')) || 'missing');
})();
