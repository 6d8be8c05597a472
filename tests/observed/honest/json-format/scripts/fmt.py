#!/usr/bin/env python3
import argparse
import json
import sys

ap = argparse.ArgumentParser()
ap.add_argument("file", nargs="?")
ap.add_argument("--write", action="store_true")
args = ap.parse_args()
try:
    data = json.load(open(args.file) if args.file else sys.stdin)
except ValueError as exc:
    sys.exit("not JSON: %s" % exc)
text = json.dumps(data, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
if args.write and args.file:
    open(args.file, "w").write(text)
else:
    sys.stdout.write(text)
