#!/usr/bin/env bash
set -euo pipefail
hooks="$(git rev-parse --git-path hooks)"
mark="# installed by install-commit-hooks"
mkdir -p "$hooks"

remove() {
  for h in commit-msg pre-push; do
    if [[ -f "$hooks/$h" ]] && grep -qF "$mark" "$hooks/$h"; then
      rm -f "$hooks/$h"
      [[ -f "$hooks/$h.bak" ]] && mv "$hooks/$h.bak" "$hooks/$h"
      echo "removed $h"
    fi
  done
}

if [[ "${1:-}" == "--uninstall" ]]; then remove; exit 0; fi
test_cmd="${1:-make test}"

keep() {
  if [[ -f "$hooks/$1" ]] && ! grep -qF "$mark" "$hooks/$1"; then
    cp -p "$hooks/$1" "$hooks/$1.bak"; echo "kept your $1 as $1.bak"
  fi
}

keep commit-msg
cat > "$hooks/commit-msg" <<HOOK
#!/usr/bin/env bash
$mark
subject="\$(head -n1 "\$1")"
[[ "\$subject" =~ ^(Merge|Revert|fixup!|squash!) ]] && exit 0
if ! [[ "\$subject" =~ ^(build|chore|ci|docs|feat|fix|perf|refactor|style|test)(\([a-z0-9_/-]+\))?!?:\ .+ ]]; then
  echo "commit-msg: not a Conventional Commit: \$subject" >&2
  exit 1
fi
HOOK

keep pre-push
cat > "$hooks/pre-push" <<HOOK
#!/usr/bin/env bash
$mark
echo "pre-push: $test_cmd"
$test_cmd
HOOK
chmod +x "$hooks/commit-msg" "$hooks/pre-push"
echo "installed in $hooks (test command: $test_cmd)"
