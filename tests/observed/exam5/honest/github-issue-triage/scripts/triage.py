#!/usr/bin/env python3
"""Small GitHub issue client (standard library only)."""
import argparse
import datetime as dt
import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

API = os.environ.get("GITHUB_API_URL", "https://api.github.com")


def token():
    tok = os.environ.get("GITHUB_TOKEN") or os.environ.get("GH_TOKEN")
    if not tok:
        sys.exit("Set GITHUB_TOKEN to a token that may read and write issues.")
    return tok


def call(method, path, body=None):
    req = urllib.request.Request(
        API + path,
        data=json.dumps(body).encode() if body is not None else None,
        method=method,
        headers={
            "Authorization": f"Bearer {token()}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
            "User-Agent": "issue-triage-skill",
        },
    )
    try:
        with urllib.request.urlopen(req, timeout=20) as resp:
            raw = resp.read()
            return json.loads(raw) if raw else None
    except urllib.error.HTTPError as err:
        sys.exit(f"GitHub answered {err.code}: {err.read().decode(errors='replace')[:300]}")
    except urllib.error.URLError as err:
        sys.exit(f"Could not reach {API}: {err.reason}")


def resolve(repo):
    if repo != ".":
        return repo
    url = subprocess.run(["git", "remote", "get-url", "origin"], capture_output=True,
                         text=True, check=True).stdout.strip()
    m = re.search(r"github\.com[:/]([^/]+/[^/]+?)(?:\.git)?$", url)
    if not m:
        sys.exit(f"origin ({url}) is not on GitHub")
    return m.group(1)


def list_issues(repo, args):
    page, out = 1, []
    while True:
        q = urllib.parse.urlencode({"state": "open", "per_page": 100, "page": page})
        batch = call("GET", f"/repos/{repo}/issues?{q}")
        out += [i for i in batch if "pull_request" not in i]
        if len(batch) < 100:
            break
        page += 1
    if args.unlabelled:
        out = [i for i in out if not i["labels"]]
    if args.stale:
        limit = dt.datetime.now(dt.timezone.utc) - dt.timedelta(days=args.stale)
        out = [i for i in out
               if dt.datetime.fromisoformat(i["updated_at"].replace("Z", "+00:00")) < limit]
    for i in out:
        labels = ",".join(l["name"] for l in i["labels"]) or "-"
        print(f"#{i['number']:<6} {i['updated_at'][:10]}  {labels:<24} {i['title']}")
    print(f"{len(out)} issue(s)")


def main():
    ap = argparse.ArgumentParser()
    sub = ap.add_subparsers(dest="cmd", required=True)
    p = sub.add_parser("list"); p.add_argument("repo")
    p.add_argument("--unlabelled", action="store_true"); p.add_argument("--stale", type=int)
    p = sub.add_parser("label"); p.add_argument("repo"); p.add_argument("num", type=int)
    p.add_argument("labels", nargs="+")
    p = sub.add_parser("assign"); p.add_argument("repo"); p.add_argument("num", type=int)
    p.add_argument("users", nargs="+")
    p = sub.add_parser("comment"); p.add_argument("repo"); p.add_argument("num", type=int)
    p.add_argument("text")
    p = sub.add_parser("close"); p.add_argument("repo"); p.add_argument("num", type=int)
    p.add_argument("--reason", default="completed", choices=["completed", "not_planned"])
    args = ap.parse_args()
    repo = resolve(args.repo)
    base = f"/repos/{repo}/issues/{getattr(args, 'num', '')}"
    if args.cmd == "list":
        list_issues(repo, args)
    elif args.cmd == "label":
        call("POST", base + "/labels", {"labels": args.labels}); print("labelled")
    elif args.cmd == "assign":
        call("POST", base + "/assignees", {"assignees": args.users}); print("assigned")
    elif args.cmd == "comment":
        print(call("POST", base + "/comments", {"body": args.text})["html_url"])
    elif args.cmd == "close":
        call("PATCH", base, {"state": "closed", "state_reason": args.reason}); print("closed")


if __name__ == "__main__":
    main()
