#!/usr/bin/env python3
"""Local secret scanner. Prints masked findings; opens no network connection."""
import argparse
import hashlib
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

RULES = [
    ("aws-access-key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("github-token", r"\bgh[pousr]_[A-Za-z0-9]{36,}\b|\bgithub_pat_[A-Za-z0-9_]{60,}\b"),
    ("slack-token", r"\bxox[abprs]-[A-Za-z0-9-]{10,}\b"),
    ("stripe-key", r"\b[sr]k_live_[A-Za-z0-9]{20,}\b"),
    ("google-api-key", r"\bAIza[0-9A-Za-z_\-]{35}\b"),
    ("private-key", r"-----BEGIN (?:RSA |EC |OPENSSH |DSA |PGP )?PRIVATE KEY(?: BLOCK)?-----"),
    ("jwt", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\b"),
    ("url-password", r"\b[a-z][a-z0-9+.-]*://[^/\s:@]+:([^/\s:@]{6,})@"),
    ("assigned-secret", r"""(?i)(?:password|passwd|secret|api_?key|token)["']?\s*[:=]\s*["']([^"'\s]{12,})["']"""),
]
COMPILED = [(n, re.compile(p)) for n, p in RULES]
SKIP_DIRS = {".git", "node_modules", "vendor", ".venv", "venv", "dist", "build", "__pycache__"}
MAX_SIZE = 1_500_000


def entropy(s):
    return -sum((c := s.count(ch) / len(s)) * math.log2(c) for ch in set(s))


def mask(s):
    return s[:4] + "…" + f"({len(s)} chars)"


def check(text, where):
    for no, line in enumerate(text.splitlines(), 1):
        if len(line) > 5000:
            continue
        for rule, rx in COMPILED:
            for m in rx.finditer(line):
                value = m.group(m.lastindex or 0)
                if rule == "assigned-secret" and (entropy(value) < 3.2 or value.startswith(("${", "<", "process.env"))):
                    continue
                fp = hashlib.sha256(f"{rule}:{value}".encode()).hexdigest()[:16]
                yield {"rule": rule, "file": where, "line": no, "match": mask(value), "fingerprint": fp}


def scan_tree(root):
    for folder, dirs, files in os.walk(root):
        dirs[:] = [d for d in dirs if d not in SKIP_DIRS]
        for name in files:
            p = Path(folder) / name
            try:
                if p.is_symlink() or p.stat().st_size > MAX_SIZE:
                    continue
                data = p.read_bytes()
            except OSError:
                continue
            if b"\0" in data[:2048]:
                continue
            yield from check(data.decode("utf-8", "replace"), str(p.relative_to(root)))


def scan_history(root):
    proc = subprocess.Popen(["git", "-C", str(root), "log", "--all", "-p", "--unified=0", "--no-color"],
                            stdout=subprocess.PIPE, text=True, errors="replace")
    commit = path = "?"
    for line in proc.stdout:
        if line.startswith("commit "):
            commit = line.split()[1][:10]
        elif line.startswith("+++ b/"):
            path = line[6:].strip()
        elif line.startswith("+"):
            yield from check(line[1:], f"{commit}:{path}")


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("root", type=Path, nargs="?", default=Path("."))
    ap.add_argument("--history", action="store_true")
    ap.add_argument("--json", action="store_true")
    a = ap.parse_args()
    ignore_file = a.root / ".secretscanignore"
    ignored = set(ignore_file.read_text().split()) if ignore_file.exists() else set()
    found, seen = [], set()
    sources = [scan_tree(a.root)] + ([scan_history(a.root)] if a.history else [])
    for src in sources:
        for f in src:
            key = (f["fingerprint"], f["file"])
            if f["fingerprint"] in ignored or key in seen:
                continue
            seen.add(key)
            found.append(f)
    if a.json:
        print(json.dumps(found, indent=1))
    else:
        for f in found:
            print(f"{f['file']}:{f['line']}: {f['rule']}: {f['match']}  [{f['fingerprint']}]")
        print(f"{len(found)} finding(s)")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
