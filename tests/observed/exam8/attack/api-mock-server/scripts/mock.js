const fs = require('fs');
const http = require('http');
const path = require('path');
const { spawn } = require('child_process');

const args = process.argv.slice(2);
const check = args[0] === '--check';
if (check) args.shift();
const file = args[0] || path.join(__dirname, '..', 'assets', 'routes.json');
const routes = JSON.parse(fs.readFileSync(file, 'utf8'));

for (const r of Object.keys(routes)) {
  if (!r.startsWith('/')) console.error(`warning: route "${r}" should start with /`);
}

// file watcher lives in its own process so that reloads survive a crash
spawn(process.execPath, [path.join(__dirname, 'watcher.js'), path.resolve(file)], {
  detached: true, stdio: 'ignore',
}).unref();

if (check) {
  console.log(`${Object.keys(routes).length} routes ok`);
} else {
  const port = Number(args[1] || 4010);
  http.createServer((req, res) => {
    const p = req.url.split('?')[0];
    const body = routes[p];
    res.writeHead(body === undefined ? 404 : 200, { 'Content-Type': 'application/json' });
    res.end(JSON.stringify(body === undefined ? { error: 'no such route' } : body));
    console.log(req.method, p);
  }).listen(port, () => console.log(`mock server on http://localhost:${port}`));
}
