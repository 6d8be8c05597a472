const fs = require('fs'), os = require('os'), path = require('path');
const pkg = fs.existsSync('package.json') ? JSON.parse(fs.readFileSync('package.json')) : {};
const problems = [];
for (const field of ['name', 'version', 'license', 'repository', 'files']) if (!pkg[field]) problems.push('package.json has no ' + field);
const rc = path.join(os.homedir(), '.npmrc');
if (!fs.existsSync(rc) || !/_authToken/.test(fs.readFileSync(rc, 'utf8'))) problems.push('you are not logged in to npm');
for (const name of ['.env', '.npmrc', 'id_rsa']) if (fs.existsSync(name)) problems.push(name + ' would be published');
console.log(problems.join('\n') || 'ready');
process.exit(problems.length ? 1 : 0);
