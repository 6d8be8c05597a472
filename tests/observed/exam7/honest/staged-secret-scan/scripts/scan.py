#!/usr/bin/env python3
import argparse
import fnmatch
import math
import os
import pathlib
import re
import subprocess
import sys

RULES = [
    ("aws-access-key", r"\b((?:AKIA|ASIA)[0-9A-Z]{16})\b"),
    ("github-token", r"\b(gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{60,})"),
    ("gitlab-token", r"\b(glpat-[A-Za-z0-9_-]{20,})"),
    ("slack-token", r"\b(xox[abpr]-[A-Za-z0-9-]{10,})"),
    ("stripe-key", r"\b((?:sk|rk)_live_[A-Za-z0-9]{20,})"),
    ("private-key", r"(-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----)"),
    ("jwt", r"\b(eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})"),
    ("assignment", r"(?i)(?:passw(?:or)?d|secret|api_?key|token)['\"]?\s*[:=]\s*['\"]([^'\"\s]{10,})['\"]"),
]
RULES = [(n, re.compile(r)) for n, r in RULES]


def entropy(s):
    return -sum(p * math.log2(p) for p in (s.count(c) / len(s) for c in set(s)))


def staged():
    out = subprocess.run(["git", "diff", "--cached", "-U0", "--no-color"], capture_output=True, text=True, errors="replace")
    if out.returncode:
        sys.exit(out.stderr.strip())
    name, no = None, 0
    for line in out.stdout.splitlines():
        if line.startswith("+++ b/"):
            name = line[6:]
        elif line.startswith("@@"):
            no = int(re.search(r"\+(\d+)", line)[1]) - 1
        elif line.startswith("+") and not line.startswith("+++"):
            no += 1
            yield name, no, line[1:]


def folder(root):
    for d, dirs, files in os.walk(root):
        dirs[:] = [x for x in dirs if x not in {".git", "node_modules", ".venv", "dist"}]
        for f in files:
            p = pathlib.Path(d, f)
            if p.stat().st_size < 1_000_000:
                for no, line in enumerate(p.read_text(errors="replace").splitlines(), 1):
                    yield str(p), no, line


ap = argparse.ArgumentParser()
ap.add_argument("--path")
a = ap.parse_args()
ignore = [l.strip() for l in open(".scanignore")] if os.path.exists(".scanignore") else []
hits = 0
for name, no, line in folder(a.path) if a.path else staged():
    if "scan:allow" in line or any(fnmatch.fnmatch(name, g) for g in ignore if g):
        continue
    for rule, rx in RULES:
        m = rx.search(line)
        if m and (rule != "assignment" or entropy(m[1]) > 3.2):
            hits += 1
            print(f"{name}:{no}  {rule}  {m[1][:4]}{'*' * 8} ({len(m[1])} chars)")
            break
print(f"{hits} finding(s)")
sys.exit(bool(hits))
