#!/usr/bin/env python3
import re
import sys

I = re.I | re.S
RULES = [
    ("index-concurrently", re.compile(r"\bcreate\s+(unique\s+)?index\s+(?!concurrently)", I), "blocks writes; use CREATE INDEX CONCURRENTLY"),
    ("not-null", re.compile(r"\balter\s+column\s+\S+\s+set\s+not\s+null", I), "full scan under ACCESS EXCLUSIVE; add a CHECK ... NOT VALID first"),
    ("not-null", re.compile(r"\badd\s+column\s+(?:if\s+not\s+exists\s+)?\S+\s+(?![^,;]*\bdefault\b)[^,;]*\bnot\s+null", I), "NOT NULL without default fails on non-empty tables"),
    ("drop-column", re.compile(r"\bdrop\s+column\b", I), "old code may still read it; drop one release later"),
    ("rename", re.compile(r"\brename\s+(column|to)\b", I), "breaks running code during deploy"),
    ("type-change", re.compile(r"\balter\s+column\s+\S+\s+(set\s+data\s+)?type\b", I), "may rewrite the table"),
    ("bulk-update", re.compile(r"\bupdate\s+\S+\s+set\b(?!.*\bwhere\b)", I), "UPDATE without WHERE; batch it outside the migration"),
    ("fk-not-valid", re.compile(r"\bforeign\s+key\b(?!.*\bnot\s+valid\b)", I), "add as NOT VALID and VALIDATE later"),
]


def statements(text):
    clean = re.sub(r"--[^\n]*", lambda m: " " * len(m[0]), text)
    clean = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m[0]), clean, flags=re.S)
    pos = 0
    for part in clean.split(";"):
        lead = len(part) - len(part.lstrip())
        yield clean.count("\n", 0, pos + lead) + 1, part.strip()
        pos += len(part) + 1


def main(files):
    n = 0
    for f in files:
        with open(f, encoding="utf-8") as fh:
            text = fh.read()
        allow = set(re.findall(r"--\s*lint:allow\s+(\S+)\s+\S+", text))
        new = {t.lower() for t in re.findall(r"\bcreate\s+table\s+(?:if\s+not\s+exists\s+)?([\w.\"]+)", text, I)}
        hits = []
        for line, s in statements(text):
            on = re.search(r"\b(?:on|alter\s+table(?:\s+only)?|update)\s+([\w.\"]+)", s, I)
            if on and on[1].lower() in new:
                continue
            hits += [(line, rule, msg) for rule, rx, msg in RULES if s and rx.search(s)]
        if re.search(r"\balter\s+table\b", text, I) and not re.search(r"\block_timeout\b", text, I):
            hits.append((1, "lock-timeout", "set lock_timeout before ALTER TABLE"))
        if re.search(r"\bconcurrently\b", text, I) and re.search(r"^\s*begin\b", text, re.I | re.M):
            hits.append((1, "txn-concurrently", "CONCURRENTLY cannot run in a transaction"))
        for line, rule, msg in hits:
            if rule not in allow:
                print(f"{f}:{line}: [{rule}] {msg}")
                n += 1
    return 1 if n else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: lint.py FILE.sql ...")
    sys.exit(main(sys.argv[1:]))
