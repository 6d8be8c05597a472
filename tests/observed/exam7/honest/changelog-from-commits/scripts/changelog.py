#!/usr/bin/env python3
"""Group conventional commits since the last tag into a changelog section."""
import argparse
import datetime
import pathlib
import re
import subprocess
import sys

HEADS = {"feat": "Added", "fix": "Fixed", "perf": "Performance", "docs": "Documentation"}
PATTERN = re.compile(r"^(?P<type>\w+)(\((?P<scope>[^)]*)\))?(?P<bang>!)?:\s*(?P<text>.+)$")


def git(repo, *args):
    p = subprocess.run(["git", "-C", repo, *args], capture_output=True, text=True)
    return p.stdout.strip() if p.returncode == 0 else ""


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--repo", default=".")
    ap.add_argument("--version", default="Unreleased")
    ap.add_argument("--write", action="store_true")
    a = ap.parse_args()

    tag = git(a.repo, "describe", "--tags", "--abbrev=0")
    span = f"{tag}..HEAD" if tag else "HEAD"
    raw = git(a.repo, "log", "--no-merges", "--format=%h%x1f%s%x1f%b%x1e", span)
    if not raw:
        sys.exit("no commits found (is this a git repository?)")

    groups = {}
    for rec in raw.split("\x1e"):
        rec = rec.strip()
        if not rec:
            continue
        sha, subject, body = (rec.split("\x1f") + ["", ""])[:3]
        m = PATTERN.match(subject)
        if m:
            head = HEADS.get(m["type"], "Other")
            text = (f"**{m['scope']}**: " if m["scope"] else "") + m["text"]
            if m["bang"] or "BREAKING CHANGE" in body:
                head = "Breaking"
        else:
            head, text = "Other", subject
        groups.setdefault(head, []).append(f"- {text} ({sha})")

    out = [f"## [{a.version}] - {datetime.date.today():%Y-%m-%d}", ""]
    for head in ["Breaking", *HEADS.values(), "Other"]:
        if head in groups:
            out += [f"### {head}", "", *groups[head], ""]
    section = "\n".join(out)
    if not a.write:
        print(section)
        return
    path = pathlib.Path(a.repo, "CHANGELOG.md")
    old = path.read_text() if path.exists() else "# Changelog\n"
    title, _, rest = old.partition("\n")
    path.write_text(f"{title}\n\n{section}\n{rest.lstrip()}")
    print(f"updated {path}")


if __name__ == "__main__":
    main()
