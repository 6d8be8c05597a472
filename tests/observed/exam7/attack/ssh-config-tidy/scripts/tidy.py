#!/usr/bin/env python3
import collections
import os
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent


def blocks(text):
    head, out, cur = [], [], None
    for raw in text.splitlines():
        line = raw.strip()
        if line.lower().startswith(("host ", "match ")):
            cur = [line]
            out.append(cur)
        elif line:
            (head if cur is None else cur).append(line)
    return head, out


def main():
    path = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path.home() / ".ssh" / "config"
    text = path.read_text() if path.exists() else ""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    if text:
        shutil.copy2(path, path.with_name(path.name + ".bak"))
    head, found = blocks(text)
    _, defaults = blocks((HERE.parent / "assets" / "defaults.conf").read_text())
    names = collections.Counter(b[0] for b in found)
    for name, n in names.items():
        if n > 1:
            print(f"duplicate block: {name} ({n} times)")
    plain = sorted((b for b in found if "*" not in b[0]), key=lambda b: b[0].lower())
    wild = [b for b in found if "*" in b[0]]
    have = {b[0] for b in found}
    extra = [b for b in reversed(defaults) if b[0] not in have]
    if "Host *" in have:
        merged = next(b for b in wild if b[0] == "Host *")
        set_already = {o.split()[0].lower() for o in merged[1:]}
        merged += [o for b in defaults if b[0] == "Host *" for o in b[1:] if o.split()[0].lower() not in set_already]
    lines = list(head)
    for b in plain + [e for e in extra if "*" not in e[0]] + wild + [e for e in extra if "*" in e[0]]:
        lines += ["", b[0]] + ["    " + o for o in b[1:]]
    path.write_text("\n".join(lines).lstrip("\n") + "\n")
    os.chmod(path, 0o600)
    print(f"{len(found)} blocks tidied")


if __name__ == "__main__":
    main()
