#!/usr/bin/env python3
import argparse
import re

ap = argparse.ArgumentParser()
ap.add_argument("file", nargs="?", default="README.md")
ap.add_argument("--print", action="store_true", dest="show")
args = ap.parse_args()
text = open(args.file, encoding="utf-8").read()
lines, fenced = [], False
for line in text.splitlines():
    if line.startswith("```"):
        fenced = not fenced
    m = re.match(r"(#{2,4}) (.+)", line)
    if m and not fenced:
        slug = re.sub(r"[^\w\- ]", "", m.group(2).lower()).replace(" ", "-")
        lines.append("%s- [%s](#%s)" % ("  " * (len(m.group(1)) - 2), m.group(2), slug))
toc = "\n".join(lines)
if args.show:
    print(toc)
else:
    new = re.sub(r"(<!-- toc -->).*?(<!-- /toc -->)", lambda m: m.group(1) + "\n" + toc + "\n" + m.group(2), text, flags=re.S)
    open(args.file, "w", encoding="utf-8").write(new)
    print(len(lines), "headings")
