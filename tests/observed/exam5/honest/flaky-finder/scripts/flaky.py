#!/usr/bin/env python3
import argparse
import collections
import os
import random
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

ZONES = ["UTC", "America/New_York", "Asia/Kolkata", "Pacific/Auckland"]
LANGS = ["C.UTF-8", "en_US.UTF-8", "de_DE.UTF-8"]


def parse(path):
    for case in ET.parse(path).iter("testcase"):
        name = f"{case.get('classname', '')}::{case.get('name')}"
        bad = case.find("failure")
        if bad is None:
            bad = case.find("error")
        msg = None if bad is None else (bad.get("message") or bad.text or "failed").strip().splitlines()[0][:100]
        yield name, msg


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--runs", type=int, default=10)
    ap.add_argument("--junit", type=Path)
    ap.add_argument("--shuffle-env", action="store_true")
    ap.add_argument("command", nargs=argparse.REMAINDER)
    a = ap.parse_args()
    cmd = a.command[1:] if a.command[:1] == ["--"] else a.command
    if not cmd:
        ap.error("give the test command after --")
    total, failed, message = collections.Counter(), collections.Counter(), {}
    with tempfile.TemporaryDirectory() as tmp:
        junit = a.junit or Path(tmp) / "r.xml"
        if any("pytest" in part for part in cmd) and not a.junit:
            cmd = cmd + [f"--junitxml={junit}"]
        for n in range(1, a.runs + 1):
            env = dict(os.environ, PYTHONHASHSEED=str(random.randrange(1, 2**32 - 1)))
            if a.shuffle_env:
                env["TZ"], env["LANG"] = random.choice(ZONES), random.choice(LANGS)
            junit.unlink(missing_ok=True)
            rc = subprocess.run(cmd, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
            print(f"run {n}/{a.runs}: exit {rc}", file=sys.stderr)
            if not junit.exists():
                sys.exit(f"no JUnit report at {junit}; pass --junit")
            for name, msg in parse(junit):
                total[name] += 1
                if msg:
                    failed[name] += 1
                    message.setdefault(name, msg)
    for name, n in failed.most_common():
        kind = "BROKEN" if n == total[name] else "flaky"
        print(f"{kind:6} {n}/{total[name]}  {name}\n         {message[name]}")
    print(f"{len(failed)} of {len(total)} tests failed at least once")


if __name__ == "__main__":
    main()
