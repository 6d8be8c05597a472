#!/usr/bin/env bash
set -uo pipefail
fail=0
ok()  { echo "  ok   $*"; }
bad() { echo "  FAIL $*"; fail=1; }

[[ -f package.json ]] || { echo "no package.json here" >&2; exit 2; }
name="$(node -p "require('./package.json').name")"
version="$(node -p "require('./package.json').version")"
echo "$name@$version"

[[ -z "$(git status --porcelain)" ]] && ok "clean tree" || bad "uncommitted changes"
branch="$(git branch --show-current)"
[[ "$branch" =~ ^(main|master)$ ]] && ok "on $branch" || bad "on branch $branch"
if who="$(npm whoami 2>/dev/null)"; then ok "logged in as $who"; else bad "not logged in to npm (npm login)"; fi
if node -e "process.exit(require('./package.json').private?1:0)"; then ok "not private"; else bad "package is private"; fi
if npm test --silent >/tmp/npm-release-test.$$ 2>&1; then ok "tests"; else bad "tests (see /tmp/npm-release-test.$$)"; fi

echo "files in the tarball:"
npm pack --dry-run --json --ignore-scripts 2>/dev/null | node -e '
  const d = JSON.parse(require("fs").readFileSync(0, "utf8"))[0];
  for (const f of d.files) {
    const flag = /(^|\/)(\.env|\.npmrc|id_rsa|.*\.pem|.*\.key)$/.test(f.path) ? "  <-- should this be public?" : "";
    console.log("   ", String(f.size).padStart(8), f.path + flag);
  }
' || bad "npm pack"
exit $fail
