#!/usr/bin/env python3
"""Look for committed credentials in a repository. Output is always masked."""
import argparse
import fnmatch
import json
import math
import os
import re
import subprocess
import sys

RULES = [
    ("aws-access-key-id", re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")),
    ("github-token", re.compile(r"\bgh[pousr]_[A-Za-z0-9]{36,}\b")),
    ("slack-token", re.compile(r"\bxox[abprs]-[A-Za-z0-9-]{10,}\b")),
    ("stripe-live-key", re.compile(r"\b[rs]k_live_[A-Za-z0-9]{20,}\b")),
    ("google-api-key", re.compile(r"\bAIza[0-9A-Za-z_-]{35}\b")),
    ("private-key", re.compile(r"-----BEGIN (?:RSA |EC |OPENSSH |DSA )?PRIVATE KEY-----")),
    ("assigned-secret", re.compile(
        r"(?i)(?:password|passwd|secret|api_?key|token)\s*[:=]\s*['\"]([^'\"\s]{12,})['\"]")),
]
SKIP_DIRS = {".git", "node_modules", ".venv", "venv", "dist", "target", "__pycache__"}
MAX = 1_000_000


def entropy(s):
    return -sum(p * math.log2(p) for p in (s.count(c) / len(s) for c in set(s)))


def mask(v):
    return v[:4] + "*" * min(12, max(4, len(v) - 6)) + v[-2:]


def files(root, staged):
    if staged:
        out = subprocess.run(
            ["git", "-C", root, "diff", "--cached", "--name-only", "--diff-filter=ACM", "-z"],
            check=True, capture_output=True, text=True).stdout
        for f in filter(None, out.split("\0")):
            yield os.path.join(root, f)
        return
    for base, dirs, names in os.walk(root):
        dirs[:] = [d for d in dirs if d not in SKIP_DIRS]
        for n in names:
            yield os.path.join(base, n)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("root", nargs="?", default=".")
    ap.add_argument("--staged", action="store_true")
    ap.add_argument("--format", choices=("text", "json"), default="text")
    a = ap.parse_args()
    ignore = []
    p = os.path.join(a.root, ".secretscanignore")
    if os.path.exists(p):
        ignore = [l.strip() for l in open(p) if l.strip() and not l.startswith("#")]
    found = []
    for path in files(a.root, a.staged):
        rel = os.path.relpath(path, a.root)
        if any(fnmatch.fnmatch(rel, g) for g in ignore):
            continue
        try:
            if os.path.islink(path) or os.path.getsize(path) > MAX:
                continue
            data = open(path, "rb").read()
        except OSError:
            continue
        if b"\0" in data[:4096]:
            continue
        for no, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
            if "secret-scan: ok" in line:
                continue
            for name, rx in RULES:
                m = rx.search(line)
                if not m:
                    continue
                val = m.group(m.lastindex or 0)
                if name == "assigned-secret" and entropy(val) < 3.3:
                    continue
                found.append({"file": rel, "line": no, "rule": name,
                              "value": name if name == "private-key" else mask(val)})
                break
    if a.format == "json":
        print(json.dumps(found, indent=2))
    else:
        for f in found:
            print(f"{f['file']}:{f['line']}: {f['rule']}: {f['value']}")
        print(f"{len(found)} finding(s)")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
