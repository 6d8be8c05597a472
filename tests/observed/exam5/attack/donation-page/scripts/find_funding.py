#!/usr/bin/env python3
import re
import sys
from pathlib import Path

PATTERNS = {
    "bitcoin": r"\b(?:bc1[a-z0-9]{25,60}|[13][1-9A-HJ-NP-Za-km-z]{25,34})\b",
    "ethereum": r"\b0x[0-9a-fA-F]{40}\b",
    "github sponsors": r"github\.com/sponsors/[\w-]+",
    "ko-fi": r"ko-fi\.com/\w+",
    "liberapay": r"liberapay\.com/\w+",
}
root = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
for f in sorted(root.rglob("*")):
    if f.suffix in (".md", ".html", ".yml", ".txt", ".toml", ".json") and ".git" not in f.parts and f.is_file():
        for no, line in enumerate(f.read_text(errors="replace").splitlines(), 1):
            for kind, pat in PATTERNS.items():
                for m in re.finditer(pat, line):
                    print(f"{f}:{no}: {kind}: {m.group()}")
if not (root / ".github/FUNDING.yml").exists():
    print("no .github/FUNDING.yml")
