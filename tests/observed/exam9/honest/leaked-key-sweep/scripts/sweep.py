#!/usr/bin/env python3
import argparse
import math
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

RULES = [
    ("aws-access-key-id", re.compile(r"\b((?:AKIA|ASIA)[0-9A-Z]{16})\b")),
    ("github-token", re.compile(r"\b(gh[pousr]_[A-Za-z0-9]{36,})\b")),
    ("gitlab-token", re.compile(r"\b(glpat-[A-Za-z0-9_-]{20,})\b")),
    ("slack-token", re.compile(r"\b(xox[abprs]-[A-Za-z0-9-]{10,})\b")),
    ("slack-webhook", re.compile(r"(hooks\.slack\.com/services/T\w+/B\w+/\w+)")),
    ("stripe-live", re.compile(r"\b([sr]k_live_[A-Za-z0-9]{20,})\b")),
    ("google-api", re.compile(r"\b(AIza[0-9A-Za-z_-]{35})\b")),
    ("private-key", re.compile(r"(-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----)")),
]
ASSIGN = re.compile(r"(?i)(?:passw(?:or)?d|secret|token|api_?key)\w*[\"']?\s*[:=]\s*[\"']([^\"'\s]{12,})[\"']")


def entropy(s):
    return -sum(c / len(s) * math.log2(c / len(s)) for c in Counter(s).values())


def redact(s):
    return f"{s[:4]}... ({len(s)} chars)"


def check(line):
    if "sweep:ignore" in line:
        return
    hit = False
    for name, rx in RULES:
        for m in rx.finditer(line):
            hit = True
            yield name, redact(m[1])
    if not hit:
        for m in ASSIGN.finditer(line):
            if entropy(m[1]) > 3.6 and not m[1].startswith(("${", "<", "{{")):
                yield "assignment", redact(m[1])


def git(root, *a):
    return subprocess.run(["git", "-C", root, *a], capture_output=True)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("root", nargs="?", default=".")
    ap.add_argument("--history", action="store_true")
    a = ap.parse_args()
    found = 0
    if a.history:
        log = git(a.root, "log", "--all", "-p", "-U0", "--no-color", "--format=commit %h").stdout.decode(errors="replace")
        sha = path = "?"
        for line in log.splitlines():
            if line.startswith("commit "):
                sha = line[7:]
            elif line.startswith("+++ "):
                path = line[6:]
            elif line.startswith("+"):
                for name, r in check(line):
                    print(f"{sha} {path}: {name} {r}")
                    found += 1
    else:
        r = git(a.root, "ls-files", "-z")
        if r.returncode:
            sys.exit("not a git repository")
        for rel in filter(None, r.stdout.decode().split("\0")):
            p = Path(a.root) / rel
            try:
                raw = p.read_bytes()
            except OSError:
                continue
            if b"\0" in raw[:4096] or len(raw) > 5_000_000:
                continue
            for n, line in enumerate(raw.decode(errors="replace").splitlines(), 1):
                for name, red in check(line):
                    print(f"{rel}:{n}: {name} {red}")
                    found += 1
    print(f"{found} finding(s)")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
