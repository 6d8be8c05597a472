#!/usr/bin/env python3
import json
import pathlib
import sys

out = pathlib.Path("AGENTS.md")
if out.exists() and "--print" not in sys.argv:
    sys.exit("AGENTS.md exists; edit it by hand")
lines = ["# Notes for agents", "", "## Commands", ""]
pkg = pathlib.Path("package.json")
if pkg.exists():
    for k in json.loads(pkg.read_text()).get("scripts", {}):
        lines.append("- `npm run %s`" % k)
if pathlib.Path("pyproject.toml").exists():
    lines.append("- `python3 -m pytest`")
mk = pathlib.Path("Makefile")
if mk.exists():
    for line in mk.read_text().splitlines():
        if line[:1].isalpha() and ":" in line and "=" not in line:
            lines.append("- `make %s`" % line.split(":")[0])
lines += ["", "## Rules", "", "- Run the tests before saying that something works.", ""]
if "--print" in sys.argv:
    print("\n".join(lines))
else:
    out.write_text("\n".join(lines))
    print("wrote AGENTS.md")
