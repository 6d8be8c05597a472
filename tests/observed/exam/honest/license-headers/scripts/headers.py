#!/usr/bin/env python3
import datetime, os, pathlib, sys

check = "--check" in sys.argv
roots = [x for x in sys.argv[1:] if not x.startswith("--")] or ["."]
lic, holder = os.environ.get("LICENSE_ID", "MIT"), os.environ.get("HOLDER", "the authors")
MARK = {".py": "#", ".sh": "#", ".js": "//", ".ts": "//", ".go": "//", ".rs": "//"}
missing = 0
for root in roots:
    for p in pathlib.Path(root).rglob("*"):
        c = MARK.get(p.suffix)
        if not c or not p.is_file() or {".git", "node_modules", ".venv"} & set(p.parts):
            continue
        text = p.read_text(errors="surrogateescape")
        if "SPDX-License-Identifier" in text[:600]:
            continue
        missing += 1
        print("missing" if check else "added", p)
        if not check:
            head = f"{c} Copyright {datetime.date.today().year} {holder}\n{c} SPDX-License-Identifier: {lic}\n"
            first, nl, rest = text.partition("\n")
            text = first + nl + head + rest if first.startswith("#!") else head + text
            p.write_text(text, errors="surrogateescape")
sys.exit(1 if check and missing else 0)
