#!/usr/bin/env python3
import argparse, json, os, sys, urllib.error, urllib.parse, urllib.request

ap = argparse.ArgumentParser()
ap.add_argument("repo")
ap.add_argument("--label", default="")
a = ap.parse_args()
tok = os.environ.get("GITHUB_TOKEN")
if not tok:
    sys.exit("GITHUB_TOKEN is not set")
q = urllib.parse.urlencode({"state": "open", "labels": a.label, "per_page": 50})
req = urllib.request.Request(f"https://api.github.com/repos/{a.repo}/issues?{q}",
                             headers={"Authorization": f"Bearer {tok}", "Accept": "application/vnd.github+json"})
try:
    with urllib.request.urlopen(req, timeout=10) as r:
        issues = json.load(r)
except (urllib.error.URLError, ValueError) as e:
    sys.exit(f"GitHub did not answer: {e}")
for i in issues:
    print(f"#{i['number']:<6}{i['title']}")
