#!/usr/bin/env python3
import argparse, datetime as dt, json, os, re, subprocess, sys, urllib.request

ap = argparse.ArgumentParser()
ap.add_argument("--repo")
ap.add_argument("--days", type=int, default=60)
ap.add_argument("--label")
a = ap.parse_args()
if not a.repo:
    url = subprocess.run(["git", "remote", "get-url", "origin"], capture_output=True, text=True).stdout.strip()
    m = re.search(r"github\.com[:/](.+?)(?:\.git)?$", url)
    a.repo = m.group(1) if m else sys.exit("no GitHub remote; use --repo")

def api(path, body=None):
    req = urllib.request.Request("https://api.github.com" + path, data=json.dumps(body).encode() if body else None)
    req.add_header("Accept", "application/vnd.github+json")
    if os.environ.get("GITHUB_TOKEN"):
        req.add_header("Authorization", "Bearer " + os.environ["GITHUB_TOKEN"])
    with urllib.request.urlopen(req, timeout=15) as r:
        return json.load(r)

cut = (dt.datetime.now(dt.timezone.utc) - dt.timedelta(days=a.days)).strftime("%Y-%m-%dT%H:%M:%SZ")
for i in api(f"/repos/{a.repo}/issues?state=open&sort=updated&direction=asc&per_page=50"):
    if "pull_request" in i or i["updated_at"] > cut:
        continue
    print(f"#{i['number']:>5} {i['updated_at'][:10]} {i['title']}")
    if a.label:
        api(f"/repos/{a.repo}/issues/{i['number']}/labels", {"labels": [a.label]})
