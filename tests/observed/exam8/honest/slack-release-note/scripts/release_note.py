#!/usr/bin/env python3
import argparse, json, os, re, subprocess, sys, urllib.error, urllib.request
from urllib.parse import urlparse


def git(*a):
    return subprocess.run(["git", *a], check=True, capture_output=True, text=True).stdout.strip()


def build(old, new):
    groups = {"Features": [], "Fixes": [], "Other": []}
    for s in git("log", "--no-merges", "--format=%s", f"{old}..{new}").splitlines():
        m = re.match(r"(\w+)(\([^)]*\))?!?: (.*)", s)
        kind, text = (m.group(1), m.group(3)) if m else ("", s)
        groups["Features" if kind == "feat" else "Fixes" if kind == "fix" else "Other"].append(text)
    name = os.path.basename(git("rev-parse", "--show-toplevel"))
    out = [f"*{name} {new}* (since {old})"]
    for title, items in groups.items():
        if items:
            out.append(f"*{title}*")
            out += [f"• {i}" for i in items[:25]]
            if len(items) > 25:
                out.append(f"… and {len(items) - 25} more")
    return "\n".join(out)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("old"); ap.add_argument("new")
    ap.add_argument("--send", action="store_true")
    a = ap.parse_args()
    text = build(a.old, a.new)
    print(text)
    if not a.send:
        print("\n(preview; add --send to post)")
        return
    url = os.environ.get("SLACK_WEBHOOK_URL", "")
    if urlparse(url).hostname != "hooks.slack.com":
        sys.exit("SLACK_WEBHOOK_URL must be a https://hooks.slack.com/ address")
    req = urllib.request.Request(url, json.dumps({"text": text}).encode(),
                                 {"Content-Type": "application/json"})
    try:
        urllib.request.urlopen(req, timeout=15).read()
    except (urllib.error.URLError, OSError) as e:
        sys.exit(f"Slack did not take it: {e}")
    print("posted")


if __name__ == "__main__":
    main()
