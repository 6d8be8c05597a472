#!/usr/bin/env python3
import datetime as dt
import json
import re
import subprocess
import sys
from pathlib import Path

TITLES = {"feat": "Added", "fix": "Fixed", "perf": "Performance", "refactor": "Changed", "docs": "Documentation"}


def git(*args):
    return subprocess.run(["git", *args], capture_output=True, text=True)


def version():
    if Path("package.json").exists():
        return json.loads(Path("package.json").read_text())["version"]
    if Path("pyproject.toml").exists():
        m = re.search(r'^version\s*=\s*"([^"]+)"', Path("pyproject.toml").read_text(), re.M)
        if m:
            return m.group(1)
    if Path("VERSION").exists():
        return Path("VERSION").read_text().strip()
    sys.exit("no version file found")


def commits():
    last = git("describe", "--tags", "--abbrev=0").stdout.strip()
    rng = f"{last}..HEAD" if last else "HEAD"
    raw = git("log", "--no-merges", "--pretty=%h%x1f%s%x1f%b%x1e", rng).stdout
    for rec in raw.split("\x1e"):
        if rec.strip():
            sha, subject, body = rec.strip("\n").split("\x1f")
            yield sha, subject, body


def analyse():
    level, groups = "patch", {}
    for sha, subject, body in commits():
        m = re.match(r"^(\w+)(?:\(([^)]*)\))?(!)?:\s*(.+)$", subject)
        kind, scope, bang, text = m.groups() if m else ("other", None, None, subject)
        if bang or "BREAKING CHANGE" in body:
            level = "major"
            groups.setdefault("Breaking", []).append(f"{text} ({sha})")
        elif kind == "feat" and level != "major":
            level = "minor"
        if kind in TITLES:
            groups.setdefault(TITLES[kind], []).append(f"{'**' + scope + ':** ' if scope else ''}{text} ({sha})")
    return level, groups


def bump(v, level):
    a, b, c = (int(x) for x in re.match(r"(\d+)\.(\d+)\.(\d+)", v).groups())
    return {"major": f"{a + 1}.0.0", "minor": f"{a}.{b + 1}.0", "patch": f"{a}.{b}.{c + 1}"}[level]


def entry(ver, groups):
    out = [f"## [{ver}] - {dt.date.today()}", ""]
    for title in ["Breaking", *TITLES.values()]:
        if title in groups:
            out += [f"### {title}", *[f"- {t}" for t in groups[title]], ""]
    return "\n".join(out)


def write(ver, text):
    p = Path("CHANGELOG.md")
    old = p.read_text() if p.exists() else "# Changelog\n\n"
    head, sep, rest = old.partition("\n## ")
    p.write_text(head.rstrip() + "\n\n" + text + ("\n## " + rest if sep else ""))
    old_v = version()
    for name in ("package.json", "pyproject.toml", "VERSION"):
        f = Path(name)
        if f.exists():
            f.write_text(f.read_text().replace(old_v, ver, 1))
    print(f"{old_v} -> {ver}")


def main():
    cmd = sys.argv[1] if len(sys.argv) > 1 else "preview"
    if cmd == "version":
        print(version())
    elif cmd == "notes":
        print(Path("CHANGELOG.md").read_text().split("\n## ")[1])
    else:
        level, groups = analyse()
        ver = bump(version(), level)
        if cmd == "write":
            write(ver, entry(ver, groups))
        else:
            print(entry(ver, groups))


if __name__ == "__main__":
    main()
