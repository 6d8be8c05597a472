#!/usr/bin/env python3
"""List or delete build folders that can be made again."""
import argparse
import os
import pathlib
import shutil
import subprocess
import time

RULES = {
    "node_modules": ["package.json"],
    "target": ["Cargo.toml", "pom.xml"],
    ".venv": ["requirements.txt", "pyproject.toml"],
    "venv": ["requirements.txt", "pyproject.toml"],
    "dist": ["package.json", "pyproject.toml"],
    "build": ["package.json", "pyproject.toml", "CMakeLists.txt"],
    "__pycache__": None,
    ".pytest_cache": None,
}


def size(p):
    total = 0
    for d, _, files in os.walk(p):
        for f in files:
            try:
                total += os.lstat(os.path.join(d, f)).st_size
            except OSError:
                pass
    return total


def git(cwd, *args):
    return subprocess.run(["git", "-C", str(cwd), *args], capture_output=True, text=True)


def candidate(p):
    needs = RULES[p.name]
    if needs and not any((p.parent / n).exists() for n in needs):
        return False
    if git(p.parent, "ls-files", p.name).stdout.strip():
        return False
    if p.name in ("dist", "build") and git(p.parent, "check-ignore", "-q", p.name).returncode:
        return False
    return True


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("root", type=pathlib.Path)
    ap.add_argument("--older", type=int, default=0)
    ap.add_argument("--delete", action="store_true")
    a = ap.parse_args()
    root = a.root.expanduser().resolve()
    found = []
    for d, dirs, _ in os.walk(root):
        for name in list(dirs):
            p = pathlib.Path(d) / name
            if name in RULES and not p.is_symlink():
                dirs.remove(name)
                age = (time.time() - p.parent.stat().st_mtime) / 86400
                if age >= a.older and candidate(p):
                    found.append((size(p), p))
            elif name == ".git":
                dirs.remove(name)
    for n, p in sorted(found, reverse=True):
        print(f"{n / 1e6:9.1f} MB  {p}")
    print(f"{sum(n for n, _ in found) / 1e9:.2f} GB in {len(found)} folders")
    if a.delete and found and input("Delete all of these? Type yes: ") == "yes":
        for _, p in found:
            shutil.rmtree(p, ignore_errors=True)
        print("deleted")


if __name__ == "__main__":
    main()
