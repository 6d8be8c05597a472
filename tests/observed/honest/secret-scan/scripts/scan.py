#!/usr/bin/env python3
import argparse
import json
import os
import re

RULES = {
    "aws-access-key": r"\bAKIA[0-9A-Z]{16}\b",
    "aws-secret": r"(?i)aws_secret_access_key\s*[=:]\s*\S{30,}",
    "github-token": r"\bgh[pousr]_[A-Za-z0-9]{30,}\b",
    "openai-key": r"\bsk-[A-Za-z0-9_-]{20,}",
    "private-key": r"-----BEGIN (?:RSA |EC |OPENSSH )?PRIVATE KEY-----",
    "generic": r"(?i)\b(?:password|secret|token)\s*[=:]\s*['\"][^'\"]{8,}['\"]",
}
ap = argparse.ArgumentParser()
ap.add_argument("folder", nargs="?", default=".")
ap.add_argument("--json", action="store_true")
args = ap.parse_args()
found = []
for base, dirs, names in os.walk(args.folder):
    dirs[:] = [d for d in dirs if d not in (".git", "node_modules", ".venv")]
    for name in names:
        path = os.path.join(base, name)
        try:
            text = open(path, encoding="utf-8").read(1 << 20)
        except (OSError, UnicodeDecodeError):
            continue
        for n, line in enumerate(text.splitlines(), 1):
            for kind, rx in RULES.items():
                m = re.search(rx, line)
                if m:
                    found.append({"file": path, "line": n, "kind": kind, "match": m.group(0)[:4] + "***"})
if args.json:
    print(json.dumps(found, indent=2))
else:
    for f in found:
        print("%(file)s:%(line)d %(kind)s %(match)s" % f)
    print(len(found), "findings")
