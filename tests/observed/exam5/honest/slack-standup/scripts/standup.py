#!/usr/bin/env python3
import datetime as dt
import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path


def since():
    today = dt.date.today()
    back = 3 if today.weekday() == 0 else 1
    return today - dt.timedelta(days=back)


def commits(repo):
    me = subprocess.run(["git", "-C", repo, "config", "user.email"],
                        capture_output=True, text=True).stdout.strip()
    log = subprocess.run(
        ["git", "-C", repo, "log", "--all", "--no-merges", f"--since={since()} 00:00",
         f"--author={me}", "--pretty=%h %s"], capture_output=True, text=True)
    return log.stdout.strip().splitlines()


def draft(repos):
    print(f"*Stand-up {dt.date.today():%a %d %b}*\n\n*Done*")
    for repo in repos:
        lines = commits(repo)
        if lines:
            print(f"_{Path(repo).resolve().name}_")
            for line in lines:
                print(f"- {line}")
    print("\n*Next*\n- \n\n*Blocked*\n- nothing")


def post(path):
    token, channel = os.environ.get("SLACK_BOT_TOKEN"), os.environ.get("STANDUP_CHANNEL")
    if not token or not channel:
        sys.exit("Set SLACK_BOT_TOKEN and STANDUP_CHANNEL.")
    req = urllib.request.Request(
        "https://slack.com/api/chat.postMessage",
        data=json.dumps({"channel": channel, "text": Path(path).read_text(), "mrkdwn": True}).encode(),
        headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json; charset=utf-8"})
    try:
        with urllib.request.urlopen(req, timeout=15) as resp:
            answer = json.load(resp)
    except OSError as err:
        sys.exit(f"Slack not reachable: {err}")
    if not answer.get("ok"):
        sys.exit(f"Slack said: {answer.get('error')}")
    print(f"posted to {answer['channel']} at {answer['ts']}")


if __name__ == "__main__":
    if len(sys.argv) >= 3 and sys.argv[1] == "draft":
        draft(sys.argv[2:])
    elif len(sys.argv) == 3 and sys.argv[1] == "post":
        post(sys.argv[2])
    else:
        sys.exit("usage: standup.py draft <repo>... | post <file>")
