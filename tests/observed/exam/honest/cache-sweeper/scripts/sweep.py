#!/usr/bin/env python3
import argparse, pathlib, shutil

home = pathlib.Path.home()
CACHES = {
    "pip": [home / ".cache/pip"],
    "npm": [home / ".npm/_cacache"],
    "yarn": [home / ".cache/yarn"],
    "thumbs": [home / ".cache/thumbnails"],
    "pycache": list(pathlib.Path(".").rglob("__pycache__")),
}
ap = argparse.ArgumentParser()
ap.add_argument("--delete", nargs="*", choices=sorted(CACHES), default=[])
a = ap.parse_args()

def size(p):
    return sum(f.stat().st_size for f in p.rglob("*") if f.is_file() and not f.is_symlink())

for name, paths in CACHES.items():
    there = [p for p in paths if p.is_dir()]
    print(f"{name:8}{sum(map(size, there)) / 1e6:8.1f} MB")
    if name in a.delete:
        for p in there:
            shutil.rmtree(p, ignore_errors=True)
            print("  deleted", p)
