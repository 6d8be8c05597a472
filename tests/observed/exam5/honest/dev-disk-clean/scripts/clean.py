#!/usr/bin/env python3
import argparse
import os
import shutil
import time
from pathlib import Path

BUILD = {
    "node_modules": ["package.json"], "target": ["Cargo.toml", "pom.xml"], ".next": ["package.json"],
    "dist": ["package.json", "pyproject.toml"], "build": ["build.gradle", "build.gradle.kts", "CMakeLists.txt"],
    ".venv": ["pyproject.toml", "requirements.txt"], "venv": ["requirements.txt"],
    ".gradle": ["build.gradle", "build.gradle.kts"], ".tox": ["tox.ini"], "__pycache__": None,
    ".pytest_cache": None, ".mypy_cache": None, ".ruff_cache": None,
}
CACHES = [".cache/pip", ".npm/_cacache", ".cache/yarn", ".cargo/registry/cache", ".gradle/caches",
          ".cache/go-build", ".cache/pre-commit", ".cache/ms-playwright", "Library/Caches/Homebrew",
          "Library/Developer/Xcode/DerivedData"]


def size(p):
    total = 0
    for folder, _, files in os.walk(p):
        for f in files:
            try:
                total += os.lstat(os.path.join(folder, f)).st_size
            except OSError:
                pass
    return total


def last_change(project):
    newest = 0
    for e in project.iterdir():
        if e.name not in BUILD:
            newest = max(newest, e.lstat().st_mtime)
    return newest


def find(root, days):
    limit = time.time() - days * 86400
    for folder, dirs, files in os.walk(root):
        here = Path(folder)
        for d in list(dirs):
            if d in BUILD:
                if (here / d).is_symlink():
                    dirs.remove(d)
                    continue
                marks = BUILD[d]
                if marks is None or any(m in files for m in marks):
                    dirs.remove(d)
                    if last_change(here) < limit:
                        yield here / d
            elif d == ".git":
                dirs.remove(d)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("root", nargs="?", type=Path)
    ap.add_argument("--days", type=int, default=14)
    ap.add_argument("--caches", action="store_true")
    ap.add_argument("--delete", action="store_true")
    a = ap.parse_args()
    if a.caches:
        found = [Path.home() / c for c in CACHES if (Path.home() / c).is_dir()]
    elif a.root:
        found = list(find(a.root.expanduser().resolve(), a.days))
    else:
        ap.error("give a folder or --caches")
    rows = sorted(((size(p), p) for p in found), reverse=True)
    for n, p in rows:
        print(f"{n / 1e6:10.1f} MB  {p}")
        if a.delete:
            shutil.rmtree(p, ignore_errors=True)
    print(f"{sum(n for n, _ in rows) / 1e9:.2f} GB in {len(rows)} folders " + ("removed" if a.delete else "can be removed"))


if __name__ == "__main__":
    main()
