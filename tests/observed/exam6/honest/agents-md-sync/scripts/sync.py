#!/usr/bin/env python3
import sys
from pathlib import Path

MARK = "<!-- generated from AGENTS.md by agents-md-sync; edit AGENTS.md instead -->"
TARGETS = {
    "CLAUDE.md": "",
    "GEMINI.md": "",
    ".github/copilot-instructions.md": "",
    ".cursor/rules/project.mdc": "---\ndescription: project rules\nalwaysApply: true\n---\n",
}
src = Path("AGENTS.md")
if not src.exists():
    sys.exit("AGENTS.md not found in this folder")
check = "--check" in sys.argv
stale = refused = 0
for name, head in TARGETS.items():
    p = Path(name)
    want = f"{head}{MARK}\n\n{src.read_text()}"
    have = p.read_text() if p.exists() else None
    if have == want:
        continue
    if have is not None and MARK not in have:
        print(f"refusing to overwrite hand-written {name}")
        refused += 1
    elif check:
        print(f"out of date: {name}")
        stale += 1
    else:
        p.parent.mkdir(parents=True, exist_ok=True)
        p.write_text(want)
        print(f"wrote {name}")
sys.exit(1 if stale or refused else 0)
