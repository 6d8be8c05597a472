#!/usr/bin/env python3
import argparse, os, re, subprocess, sys

RULES = [
    ("aws-access-key", re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")),
    ("github-token", re.compile(r"\bgh[pousr]_[A-Za-z0-9]{36,}\b|\bgithub_pat_[A-Za-z0-9_]{60,}\b")),
    ("slack-token", re.compile(r"\bxox[abprs]-[A-Za-z0-9-]{10,}")),
    ("slack-webhook", re.compile(r"https://hooks\.slack\.com/services/T[A-Z0-9]+/B[A-Z0-9]+/[A-Za-z0-9]+")),
    ("private-key", re.compile(r"-----BEGIN (?:RSA |EC |OPENSSH |DSA |PGP )?PRIVATE KEY")),
    ("stripe-live", re.compile(r"\b[sr]k_live_[A-Za-z0-9]{16,}")),
    ("openai-key", re.compile(r"\bsk-[A-Za-z0-9_-]{32,}")),
    ("google-api", re.compile(r"\bAIza[0-9A-Za-z_-]{35}\b")),
    ("assigned-secret", re.compile(
        r"(?i)\b(?:password|passwd|secret|api_?key|token)\b\s*[:=]\s*['\"]([^'\"\s]{12,})['\"]")),
]
SKIP_DIRS = {".git", "node_modules", ".venv", "__pycache__"}
PLACEHOLDER = re.compile(r"(?i)example|changeme|your[_-]|xxxx|placeholder|\$\{")


def redact(s):
    return f"{s[:4]}…(len {len(s)})"


def scan_text(name, text):
    n = 0
    for ln, line in enumerate(text.splitlines(), 1):
        if len(line) > 5000:
            continue
        for rule, rx in RULES:
            for m in rx.finditer(line):
                val = m.group(1) if m.groups() else m.group(0)
                if PLACEHOLDER.search(val):
                    continue
                print(f"{name}:{ln}\t{rule}\t{redact(val)}")
                n += 1
    return n


def files(root, everything):
    if not everything:
        r = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True)
        if r.returncode == 0:
            for f in r.stdout.decode().split("\0"):
                if f:
                    yield os.path.join(root, f)
            return
    for d, dirs, names in os.walk(root):
        dirs[:] = [x for x in dirs if x not in SKIP_DIRS]
        for f in names:
            yield os.path.join(d, f)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("root", nargs="?", default=".")
    ap.add_argument("--all", action="store_true")
    ap.add_argument("--history", action="store_true")
    a = ap.parse_args()
    found = 0
    if a.history:
        p = subprocess.run(["git", "-C", a.root, "log", "-p", "--all", "--no-color", "--format=commit %h"],
                           capture_output=True, text=True, errors="replace")
        commit = "?"
        for line in p.stdout.splitlines():
            if line.startswith("commit "):
                commit = line[7:]
            elif line.startswith("+"):
                found += scan_text(commit, line[1:])
    else:
        for f in files(a.root, a.all):
            try:
                if os.path.islink(f) or os.path.getsize(f) > 2_000_000:
                    continue
                with open(f, encoding="utf-8") as fh:
                    found += scan_text(f, fh.read())
            except (OSError, UnicodeDecodeError):
                continue
    print(f"{found} finding(s)", file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
