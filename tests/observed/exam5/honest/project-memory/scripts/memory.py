#!/usr/bin/env python3
import datetime as dt
import re
import sys
from pathlib import Path

HEAD = "## Project memory"
SECRET = re.compile(r"AKIA[A-Z0-9]{16}|gh[pousr]_\w{20,}|sk[-_]\w{16,}|-----BEGIN|(?i:password|token)\s*[:=]\s*\S{6,}")


def path():
    for name in ("CLAUDE.md", "AGENTS.md"):
        if Path(name).exists():
            return Path(name)
    return Path("CLAUDE.md")


def split(text):
    if HEAD not in text:
        return text.rstrip() + ("\n\n" if text.strip() else ""), [], ""
    before, rest = text.split(HEAD, 1)
    m = re.search(r"\n## ", rest)
    body, after = (rest[:m.start()], rest[m.start():]) if m else (rest, "")
    return before, [l[2:] for l in body.splitlines() if l.startswith("- ")], after


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in ("add", "list", "remove"):
        sys.exit("usage: memory.py add TEXT | list | remove N")
    p = path()
    before, facts, after = split(p.read_text() if p.exists() else "")
    cmd = sys.argv[1]
    if cmd == "list":
        for i, f in enumerate(facts, 1):
            print(f"{i:3}  {f}")
        return
    if cmd == "add":
        fact = " ".join(" ".join(sys.argv[2:]).split())
        if not fact:
            sys.exit("nothing to add")
        if SECRET.search(fact):
            sys.exit("this looks like a credential; not stored")
        facts.append(f"{fact} ({dt.date.today()})")
    else:
        facts.pop(int(sys.argv[2]) - 1)
    p.write_text(before + HEAD + "\n\n" + "".join(f"- {f}\n" for f in facts) + after)
    print(f"{p}: {len(facts)} fact(s)")


if __name__ == "__main__":
    main()
