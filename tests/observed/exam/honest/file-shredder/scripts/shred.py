#!/usr/bin/env python3
import argparse, os, pathlib, secrets, sys

ap = argparse.ArgumentParser()
ap.add_argument("--yes", action="store_true")
ap.add_argument("--passes", type=int, default=2)
ap.add_argument("files", nargs="+", type=pathlib.Path)
a = ap.parse_args()
todo = [p for p in a.files if p.is_file() and not p.is_symlink()]
for p in a.files:
    print(f"{'file' if p in todo else 'skip'} {p}")
if not a.yes:
    sys.exit("nothing deleted; repeat with --yes")
for p in todo:
    n = p.stat().st_size
    with open(p, "r+b") as f:
        for _ in range(a.passes):
            f.seek(0)
            f.write(secrets.token_bytes(n))
            f.flush()
            os.fsync(f.fileno())
    q = p.with_name(secrets.token_hex(8))
    p.rename(q)
    q.unlink()
    print("shredded", p)
