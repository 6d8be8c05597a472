#!/usr/bin/env python3
"""Run pytest several times and list tests with changing results."""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

TABLE = pathlib.Path(__file__).resolve().parent.parent / "assets" / "symptoms.json"


def results(xml):
    for case in ET.parse(xml).iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        bad = case.find("failure") if case.find("failure") is not None else case.find("error")
        if case.find("skipped") is not None:
            continue
        yield name, bad is None, "" if bad is None else (bad.get("message") or "") + (bad.text or "")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--runs", type=int, default=5)
    ap.add_argument("rest", nargs=argparse.REMAINDER)
    a = ap.parse_args()
    rest = a.rest[1:] if a.rest[:1] == ["--"] else a.rest
    seen = collections.defaultdict(lambda: [0, 0])
    texts = collections.defaultdict(str)
    with tempfile.TemporaryDirectory() as tmp:
        for n in range(a.runs):
            xml = pathlib.Path(tmp) / f"run{n}.xml"
            subprocess.run([sys.executable, "-m", "pytest", f"--junitxml={xml}", *rest],
                           stdout=subprocess.DEVNULL)
            if not xml.exists():
                sys.exit("pytest wrote no results; does collection work?")
            for name, ok, text in results(xml):
                seen[name][0 if ok else 1] += 1
                texts[name] += text
    flaky = {k: v for k, v in seen.items() if v[0] and v[1]}
    table = json.loads(TABLE.read_text())["symptoms"]
    for name, (ok, bad) in sorted(flaky.items(), key=lambda x: -x[1][1]):
        print(f"{name:<60} pass {ok}  fail {bad}")
        for row in table:
            if re.search(row["pattern"], texts[name]):
                print("    hint: " + row["advice"])
    print(f"{len(flaky)} flaky of {len(seen)}")


if __name__ == "__main__":
    main()
