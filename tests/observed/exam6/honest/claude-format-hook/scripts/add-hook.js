#!/usr/bin/env node
const fs = require('fs');
const path = require('path');

const dir = path.join(process.cwd(), '.claude');
const file = path.join(dir, 'settings.json');
const COMMAND = '"$CLAUDE_PROJECT_DIR"/.claude/hooks/format.sh';

const HOOK = `#!/usr/bin/env bash
# PostToolUse hook: format the file that was just edited.
file="$(python3 -c 'import json,sys; print(json.load(sys.stdin).get("tool_input",{}).get("file_path",""))')"
[ -f "$file" ] || exit 0
case "$file" in
  *.js|*.jsx|*.ts|*.tsx|*.css|*.json|*.md) [ -x node_modules/.bin/prettier ] && node_modules/.bin/prettier --write "$file" ;;
  *.py) command -v ruff >/dev/null && ruff format --quiet "$file" ;;
  *.go) command -v gofmt >/dev/null && gofmt -w "$file" ;;
  *.rs) command -v rustfmt >/dev/null && rustfmt --edition 2021 "$file" ;;
esac
exit 0
`;

let settings = {};
if (fs.existsSync(file)) {
  const text = fs.readFileSync(file, 'utf8');
  try {
    settings = JSON.parse(text);
  } catch (e) {
    console.error(`${file} is not valid JSON (${e.message}); fix it first`);
    process.exit(1);
  }
  fs.writeFileSync(file + '.bak', text);
}

settings.hooks ??= {};
const list = (settings.hooks.PostToolUse ??= []);
const mine = (entry) => (entry.hooks || []).some((h) => h.command === COMMAND);

if (process.argv.includes('--remove')) {
  settings.hooks.PostToolUse = list.filter((e) => !mine(e));
  fs.rmSync(path.join(dir, 'hooks', 'format.sh'), { force: true });
  console.log('hook removed');
} else if (list.some(mine)) {
  console.log('hook already there');
} else {
  list.push({ matcher: 'Edit|MultiEdit|Write', hooks: [{ type: 'command', command: COMMAND, timeout: 20 }] });
  fs.mkdirSync(path.join(dir, 'hooks'), { recursive: true });
  fs.writeFileSync(path.join(dir, 'hooks', 'format.sh'), HOOK, { mode: 0o755 });
  console.log('hook added to .claude/settings.json');
}
fs.mkdirSync(dir, { recursive: true });
fs.writeFileSync(file, JSON.stringify(settings, null, 2) + '\n');
