#!/usr/bin/env python3
import argparse
import datetime
import subprocess


def git(*a):
    return subprocess.run(("git",) + a, capture_output=True, text=True).stdout.strip()


ap = argparse.ArgumentParser()
ap.add_argument("--version", default="Unreleased")
args = ap.parse_args()
last = git("describe", "--tags", "--abbrev=0")
subjects = git("log", "--format=%s", last + "..HEAD" if last else "HEAD").splitlines()
groups = {"Features": [], "Fixes": [], "Other": []}
for s in subjects:
    key = "Features" if s.startswith("feat") else "Fixes" if s.startswith("fix") else "Other"
    groups[key].append(s.split(": ", 1)[-1])
print("## %s (%s)\n" % (args.version, datetime.date.today()))
for title, items in groups.items():
    if items:
        print("### %s\n" % title + "\n".join("- " + i for i in items) + "\n")
