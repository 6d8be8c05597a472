#!/usr/bin/env python3
import argparse
import json
import re
import sys
from pathlib import Path

USE = re.compile(r"""(?<![\w.])(?:t|i18n\.t|i18next\.t)\(\s*(['"`])((?:(?!\1|\$\{).)+)\1|i18nKey=["']([^"']+)["']""")
PH = re.compile(r"\{\{\s*[-]?\s*([\w.]+)")
PLURAL = re.compile(r"_(zero|one|two|few|many|other|plural|\d+)$")


def flat(d, pre=""):
    for k, v in d.items():
        if isinstance(v, dict):
            yield from flat(v, f"{pre}{k}.")
        else:
            yield pre + k, str(v)


ap = argparse.ArgumentParser()
ap.add_argument("--src", default="src")
ap.add_argument("--locales", default="public/locales")
ap.add_argument("--ref", default="en")
a = ap.parse_args()

loc = {}
for f in sorted(Path(a.locales).glob("*/*.json")):
    d = loc.setdefault(f.parent.name, {})
    for k, v in flat(json.loads(f.read_text(encoding="utf-8"))):
        d[k] = v
if a.ref not in loc:
    sys.exit(f"no {a.locales}/{a.ref}/*.json")

used = {}
for f in Path(a.src).rglob("*"):
    if f.suffix in (".js", ".jsx", ".ts", ".tsx", ".vue"):
        for n, line in enumerate(f.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            for m in USE.finditer(line):
                key = (m[2] or m[3]).split(":", 1)[-1]
                used.setdefault(key, f"{f}:{n}")

ref = loc[a.ref]
folded = {PLURAL.sub("", k) for k in ref} | set(ref)
dyn = []
if Path(".i18n-dynamic").exists():
    dyn = [x.strip() for x in Path(".i18n-dynamic").read_text().splitlines() if x.strip()]

bad = 0
for k, where in sorted(used.items()):
    if k not in folded:
        print(f"missing in {a.ref}: {k}  ({where})")
        bad += 1
for k in sorted(ref):
    if k not in used and PLURAL.sub("", k) not in used and not any(k.startswith(p) for p in dyn):
        print(f"unused: {k}")
for lang, d in loc.items():
    if lang == a.ref:
        continue
    for k, v in sorted(ref.items()):
        if k not in d:
            if not PLURAL.search(k):
                print(f"missing in {lang}: {k}")
                bad += 1
        elif set(PH.findall(v)) != set(PH.findall(d[k])):
            print(f"placeholders differ in {lang}: {k}")
            bad += 1
sys.exit(1 if bad else 0)
