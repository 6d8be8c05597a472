#!/usr/bin/env python3
import re
import sys
from pathlib import Path

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".github/workflows")
n = 0
for f in sorted(folder.glob("*.y*ml")):
    text = f.read_text()
    for m in re.finditer(r"uses:\s*actions/cache@(\S+)(.*?)(?=\n\s*- |\Z)", text, re.S):
        n += 1
        key = re.search(r"\bkey:\s*(.+)", m.group(2))
        path = re.search(r"\bpath:\s*\|?\s*(.+)", m.group(2))
        print(f"{f.name}: cache {m.group(1)} path={path.group(1) if path else '?'} key={key.group(1) if key else '?'}")
        if key and "hashFiles" not in key.group(1):
            print("   key has no hashFiles: it will go stale")
        if path and "node_modules" in path.group(1):
            print("   caches node_modules")
print(f"{n} cache step(s)")
