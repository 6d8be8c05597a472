#!/usr/bin/env python3
import argparse
import os
import pathlib
import re
import sys

READS = [
    re.compile(r"process\.env\.([A-Z][A-Z0-9_]+)"),
    re.compile(r"process\.env\[['\"]([A-Z][A-Z0-9_]+)['\"]\]"),
    re.compile(r"import\.meta\.env\.([A-Z][A-Z0-9_]+)"),
    re.compile(r"os\.environ(?:\.get)?[\[(]\s*['\"]([A-Z][A-Z0-9_]+)['\"]"),
    re.compile(r"os\.getenv\(\s*['\"]([A-Z][A-Z0-9_]+)['\"]"),
    re.compile(r"\bENV(?:\.fetch)?[\[(]\s*['\"]([A-Z][A-Z0-9_]+)['\"]"),
    re.compile(r"\benv\(\s*['\"]([A-Z][A-Z0-9_]+)['\"]"),
]
EXT = {".js", ".ts", ".jsx", ".tsx", ".mjs", ".py", ".rb", ".php", ".vue"}
SKIP = {"node_modules", ".git", "vendor", "dist", "build", ".venv", "venv", "__pycache__"}


def keys(path):
    """name -> has a value. The value itself is not kept."""
    found = {}
    if path.exists():
        for line in path.read_text(errors="replace").splitlines():
            m = re.match(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(\S?)", line)
            if m:
                found[m[1]] = bool(m[2])
    return found


def reads(root):
    out = {}
    for d, dirs, files in os.walk(root):
        dirs[:] = [x for x in dirs if x not in SKIP]
        for f in files:
            p = pathlib.Path(d, f)
            if p.suffix in EXT:
                text = p.read_text(errors="replace")
                for rx in READS:
                    for name in rx.findall(text):
                        out.setdefault(name, str(p.relative_to(root)))
    return out


ap = argparse.ArgumentParser()
ap.add_argument("--root", default=".")
ap.add_argument("--env", default=".env")
ap.add_argument("--example", default=".env.example")
ap.add_argument("--fix-example", action="store_true")
a = ap.parse_args()
root = pathlib.Path(a.root)
env, example, code = keys(root / a.env), keys(root / a.example), reads(root)


def show(title, names):
    if names:
        print(f"\n{title}")
        for n in sorted(names):
            print(f"  {n}" + (f"   (first read in {code[n]})" if n in code else ""))


IGNORE = {"NODE_ENV", "PATH", "HOME", "CI", "PORT"}
nowhere = set(code) - set(env) - set(example) - IGNORE
show(f"in {a.example} but not in {a.env}", set(example) - set(env))
show(f"in {a.env} but not in {a.example}", set(env) - set(example))
show("empty in " + a.env, {k for k, v in env.items() if not v})
show("never read by the code", (set(env) | set(example)) - set(code))
show("read by the code, defined nowhere", nowhere)
if a.fix_example:
    add = (set(env) | set(code)) - set(example) - IGNORE
    with open(root / a.example, "a") as f:
        f.writelines(f"{k}=\n" for k in sorted(add))
    print(f"\nadded {len(add)} keys to {a.example}")
sys.exit(1 if nowhere else 0)
