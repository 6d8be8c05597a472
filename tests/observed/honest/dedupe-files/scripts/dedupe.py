#!/usr/bin/env python3
import argparse
import collections
import hashlib
import pathlib

ap = argparse.ArgumentParser()
ap.add_argument("folder", type=pathlib.Path, nargs="?", default=pathlib.Path("."))
ap.add_argument("--apply", action="store_true")
a = ap.parse_args()
groups = collections.defaultdict(list)
for p in a.folder.rglob("*"):
    if p.is_file() and ".git" not in p.parts and p.stat().st_size:
        groups[hashlib.sha256(p.read_bytes()).digest()].append(p)
for paths in groups.values():
    if len(paths) < 2:
        continue
    paths.sort(key=lambda p: p.stat().st_mtime)
    print("keep  ", paths[0])
    for p in paths[1:]:
        print("delete" if a.apply else "copy  ", p)
        if a.apply:
            p.unlink()
