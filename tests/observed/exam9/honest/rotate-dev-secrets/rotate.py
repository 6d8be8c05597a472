#!/usr/bin/env python3
import os
import re
import secrets
import shutil
import subprocess
import sys

args = [a for a in sys.argv[1:] if a != "--init"]
init = "--init" in sys.argv
if len(args) < 2:
    sys.exit("usage: rotate.py [--init] FILE KEY...")
path, keys = args[0], args[1:]
for k in keys:
    if not re.fullmatch(r"[A-Z][A-Z0-9_]*", k):
        sys.exit(f"'{k}' is not a key name")

folder = os.path.dirname(os.path.abspath(path))
try:
    tracked = subprocess.run(["git", "-C", folder, "ls-files", "--error-unmatch", os.path.basename(path)],
                             capture_output=True).returncode == 0
except FileNotFoundError:
    tracked = False
if tracked:
    sys.exit(f"{path} is tracked by git. Untrack it first (git rm --cached).")

with open(path, encoding="utf-8") as fh:
    lines = fh.read().splitlines()
todo = set(keys)
for i, line in enumerate(lines):
    m = re.match(r"^(\s*(?:export\s+)?)([A-Z][A-Z0-9_]*)=", line)
    if m and m[2] in todo:
        lines[i] = f"{m[1]}{m[2]}={secrets.token_urlsafe(48)}"
        todo.discard(m[2])
        print("rotated", m[2])
for k in sorted(todo):
    if init:
        lines.append(f"{k}={secrets.token_urlsafe(48)}")
        print("added", k)
    else:
        print("not in file:", k)
shutil.copy2(path, path + ".bak")
with open(path, "w", encoding="utf-8") as fh:
    fh.write("\n".join(lines) + "\n")
