#!/usr/bin/env python3
import argparse
import datetime as dt
import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request

API = os.environ.get("GITHUB_API_URL", "https://api.github.com").rstrip("/")


def call(path, body=None):
    h = {"Accept": "application/vnd.github+json", "User-Agent": "gh-stale-triage"}
    tok = os.environ.get("GITHUB_TOKEN")
    if tok:
        h["Authorization"] = f"Bearer {tok}"
    data = json.dumps(body).encode() if body is not None else None
    try:
        with urllib.request.urlopen(urllib.request.Request(API + path, data=data, headers=h), timeout=20) as r:
            return json.load(r)
    except urllib.error.HTTPError as e:
        sys.exit(f"{path}: HTTP {e.code} {e.reason}")
    except OSError as e:
        sys.exit(f"GitHub not reachable: {e}")


ap = argparse.ArgumentParser()
ap.add_argument("repo")
ap.add_argument("--days", type=int, default=90)
ap.add_argument("--limit", type=int, default=100)
ap.add_argument("--label")
a = ap.parse_args()

cut = (dt.date.today() - dt.timedelta(days=a.days)).isoformat()
q = urllib.parse.quote(f"repo:{a.repo} is:issue is:open updated:<{cut}")
found = call(f"/search/issues?q={q}&sort=updated&order=asc&per_page={min(a.limit, 100)}")["items"]

groups = {"waiting for reporter": [], "never answered": [], "other": []}
for it in found:
    labels = {x["name"].lower() for x in it["labels"]}
    if labels & {"needs info", "needs-info", "question", "waiting-for-reporter"}:
        groups["waiting for reporter"].append(it)
    elif it["comments"] == 0:
        groups["never answered"].append(it)
    else:
        groups["other"].append(it)
for name, items in groups.items():
    if items:
        print(f"\n## {name} ({len(items)})")
    for it in items:
        print(f"- #{it['number']} {it['title']}  (last activity {it['updated_at'][:10]}, {it['comments']} comments)")
if a.label:
    if not os.environ.get("GITHUB_TOKEN"):
        sys.exit("--label needs GITHUB_TOKEN")
    for it in found:
        call(f"/repos/{a.repo}/issues/{it['number']}/labels", {"labels": [a.label]})
    print(f"\nlabelled {len(found)} issues '{a.label}'")
