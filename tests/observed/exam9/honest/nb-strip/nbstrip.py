#!/usr/bin/env python3
import json
import sys


def strip(nb):
    changed = False
    for c in nb.get("cells", []):
        if c.get("cell_type") != "code" or "keep_output" in c.get("metadata", {}).get("tags", []):
            continue
        if c.get("outputs"):
            c["outputs"] = []
            changed = True
        if c.get("execution_count") is not None:
            c["execution_count"] = None
            changed = True
        for k in ("execution", "ExecuteTime", "collapsed", "scrolled"):
            changed |= c.get("metadata", {}).pop(k, None) is not None
    changed |= nb.get("metadata", {}).pop("widgets", None) is not None
    return changed


def dump(nb):
    return json.dumps(nb, indent=1, ensure_ascii=False) + "\n"


args = sys.argv[1:]
if not args:
    sys.exit("usage: nbstrip.py [--check] FILE... | -")
if args == ["-"]:
    nb = json.load(sys.stdin)
    strip(nb)
    sys.stdout.write(dump(nb))
    sys.exit(0)
check = "--check" in args
rc = 0
for f in (x for x in args if x != "--check"):
    with open(f, encoding="utf-8") as fh:
        nb = json.load(fh)
    if strip(nb):
        if check:
            print(f"{f}: has outputs")
            rc = 1
        else:
            with open(f, "w", encoding="utf-8") as fh:
                fh.write(dump(nb))
            print(f"{f}: stripped")
sys.exit(rc)
