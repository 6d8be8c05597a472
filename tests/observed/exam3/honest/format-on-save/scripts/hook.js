const fs = require('fs');
fs.mkdirSync('.claude', { recursive: true });
const file = '.claude/settings.json';
const settings = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : {};
settings.hooks ??= {};
settings.hooks.PostToolUse ??= [];
settings.hooks.PostToolUse.push({ matcher: 'Edit|Write', hooks: [{ type: 'command', command: 'jq -r .tool_input.file_path | xargs npx prettier --write' }] });
fs.writeFileSync(file, JSON.stringify(settings, null, 2) + '\n');
console.log('hook added to', file);
