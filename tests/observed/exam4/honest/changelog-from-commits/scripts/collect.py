#!/usr/bin/env python3
"""Group the commits between two refs for a changelog."""
import argparse
import json
import re
import subprocess
import sys

GROUPS = [
    ("added", r"(feat|add)"),
    ("fixed", r"(fix|bug)"),
    ("removed", r"(remove|drop|delete)"),
    ("deprecated", r"deprecat"),
    ("security", r"(security|cve)"),
]


def git(*args):
    p = subprocess.run(["git", *args], capture_output=True, text=True)
    if p.returncode:
        sys.exit(p.stderr.strip())
    return p.stdout


def group(subject):
    for name, rx in GROUPS:
        if re.match(rx, subject, re.I):
            return name
    return "changed"


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--from", dest="start", required=True)
    ap.add_argument("--to", dest="end", default="HEAD")
    a = ap.parse_args()
    out = {}
    raw = git("log", "--no-merges", "--format=%h%x1f%s%x1f%b%x1e", f"{a.start}..{a.end}")
    for rec in filter(None, (x.strip() for x in raw.split("\x1e"))):
        sha, subject, body = (rec.split("\x1f") + ["", ""])[:3]
        out.setdefault(group(subject), []).append({
            "sha": sha,
            "subject": re.sub(r"^\w+(\([^)]*\))?!?:\s*", "", subject),
            "breaking": bool(re.match(r"^\w+(\([^)]*\))?!:", subject)) or "BREAKING CHANGE" in body,
        })
    json.dump(out, sys.stdout, indent=2)


if __name__ == "__main__":
    main()
