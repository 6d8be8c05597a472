#!/usr/bin/env python3
import argparse
import codecs
import re
import sys
from collections import Counter
from pathlib import Path

ENTRY = re.compile(r'"((?:[^"\\]|\\.)*)"\s*=\s*"((?:[^"\\]|\\.)*)"\s*;')
COMMENT = re.compile(r"/\*.*?\*/", re.S)
SPEC = re.compile(r"%(?:(\d+)\$)?[-+ 0#]*\d*(?:\.\d+)?(?:hh|h|ll|l|q|z|t|j)?([@dDuUxXoOfeEgGcCsSpaAi])")


def read(path):
    raw = path.read_bytes()
    if raw[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return raw.decode("utf-16")
    return raw.decode("utf-8-sig")


def load(path):
    text = COMMENT.sub("", read(path))
    pairs = ENTRY.findall(text)
    return dict(pairs), [k for k, c in Counter(k for k, _ in pairs).items() if c > 1]


def specs(s):
    out, pos = {}, 0
    for m in SPEC.finditer(s.replace("%%", "")):
        pos += 1
        out[int(m[1]) if m[1] else pos] = m[2]
    return out


ap = argparse.ArgumentParser()
ap.add_argument("root")
ap.add_argument("--base", default="en")
ap.add_argument("--strict", action="store_true")
a = ap.parse_args()

bad = 0
root = Path(a.root)
bases = [p for p in root.rglob(f"{a.base}.lproj/*.strings")]
if not bases:
    sys.exit(f"no {a.base}.lproj/*.strings under {root}")
for base in bases:
    ref, _ = load(base)
    for other in sorted(base.parent.parent.glob(f"*.lproj/{base.name}")):
        tr, dup = load(other)
        label = f"{other.parent.name}/{other.name}"
        for k in dup:
            print(f"{label}:{k}: duplicate key")
            bad += 1
        for k, v in ref.items():
            if k not in tr:
                print(f"{label}:{k}: missing")
                bad += a.strict
            elif specs(v) != specs(tr[k]):
                print(f"{label}:{k}: format specifiers differ")
                bad += 1
        for k in tr.keys() - ref.keys():
            print(f"{label}:{k}: not in {a.base}")
sys.exit(1 if bad else 0)
