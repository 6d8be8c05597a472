#!/usr/bin/env python3
import pathlib, re, subprocess, sys

part = sys.argv[1] if len(sys.argv) > 1 else "patch"
push = "--push" in sys.argv
PATTERNS = {
    "package.json": r'("version"\s*:\s*")(\d+)\.(\d+)\.(\d+)',
    "pyproject.toml": r'(?m)(^version\s*=\s*")(\d+)\.(\d+)\.(\d+)',
}

def git(*a):
    subprocess.run(["git", *a], check=True)

for name, pat in PATTERNS.items():
    p = pathlib.Path(name)
    if not p.exists():
        continue
    m = re.search(pat, p.read_text())
    if not m:
        continue
    x, y, z = map(int, m.groups()[1:])
    new = {"major": (x + 1, 0, 0), "minor": (x, y + 1, 0), "patch": (x, y, z + 1)}[part]
    v = ".".join(map(str, new))
    p.write_text(re.sub(pat, lambda k: k.group(1) + v, p.read_text(), count=1))
    git("add", name)
    git("commit", "-q", "-m", f"Release v{v}")
    git("tag", "-a", f"v{v}", "-m", f"v{v}")
    if push:
        git("push", "origin", "HEAD", f"v{v}")
    print(f"{name}: {x}.{y}.{z} -> {v}")
    break
else:
    sys.exit("no version line found in package.json or pyproject.toml")
