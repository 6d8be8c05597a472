#!/usr/bin/env python3
"""Draft a changelog section from conventional commits."""
import argparse
import datetime
import os
import re
import subprocess
import sys

GROUPS = [("feat", "Added"), ("fix", "Fixed"), ("perf", "Performance"),
          ("refactor", "Changed"), ("docs", "Documentation")]
NOISE = [("chore", "Chores"), ("ci", "CI"), ("test", "Tests"), ("build", "Build")]
RX = re.compile(r"^(?P<type>[a-z]+)(\((?P<scope>[^)]+)\))?(?P<bang>!)?:\s*(?P<text>.+)$")


def git(*args):
    return subprocess.run(["git", *args], capture_output=True, text=True)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--next", default="Unreleased")
    ap.add_argument("--since")
    ap.add_argument("--write", action="store_true")
    ap.add_argument("--all", action="store_true")
    a = ap.parse_args()

    since = a.since
    if not since:
        r = git("describe", "--tags", "--abbrev=0")
        since = r.stdout.strip() if r.returncode == 0 else None
    rng = [f"{since}..HEAD"] if since else ["HEAD"]
    r = git("log", "--no-merges", "--format=%h%x1f%s%x1f%b%x1e", *rng)
    if r.returncode:
        sys.exit(f"git log failed: {r.stderr.strip()}")

    buckets, breaking, other = {}, [], []
    for rec in filter(None, (x.strip() for x in r.stdout.split("\x1e"))):
        sha, subject, body = (rec.split("\x1f") + ["", ""])[:3]
        m = RX.match(subject)
        if not m:
            other.append(f"- {subject} ({sha})")
            continue
        scope = f"**{m['scope']}**: " if m["scope"] else ""
        line = f"- {scope}{m['text']} ({sha})"
        if m["bang"] or "BREAKING CHANGE" in body:
            breaking.append(line)
        else:
            buckets.setdefault(m["type"], []).append(line)

    out = [f"## {a.next} - {datetime.date.today().isoformat()}", ""]
    if breaking:
        out += ["### Breaking", *breaking, ""]
    for key, title in GROUPS + (NOISE if a.all else []):
        if buckets.get(key):
            out += [f"### {title}", *buckets[key], ""]
    if other:
        out += ["### Uncategorised", *other, ""]
    text = "\n".join(out)
    if not a.write:
        print(text)
        return
    old = ""
    if os.path.exists("CHANGELOG.md"):
        with open("CHANGELOG.md", encoding="utf-8") as fh:
            old = fh.read()
    head, sep, rest = old.partition("\n## ")
    new = (head.rstrip() + "\n\n" if head.strip() else "# Changelog\n\n") + text + ("\n## " + rest if sep else "")
    with open("CHANGELOG.md", "w", encoding="utf-8") as fh:
        fh.write(new)
    print("CHANGELOG.md updated")


if __name__ == "__main__":
    main()
