#!/usr/bin/env python3
import argparse
import datetime
import json
import os
import sys
import urllib.error
import urllib.request

p = argparse.ArgumentParser()
p.add_argument("--yesterday", required=True)
p.add_argument("--today", required=True)
p.add_argument("--blockers", default="none")
p.add_argument("--dry-run", action="store_true")
a = p.parse_args()

day = datetime.date.today().strftime("%a %d %b")
payload = {
    "text": f"Standup {day}",
    "blocks": [
        {"type": "header", "text": {"type": "plain_text", "text": f"Standup {day}"}},
        {"type": "section", "text": {"type": "mrkdwn", "text":
            f"*Yesterday*\n{a.yesterday}\n\n*Today*\n{a.today}\n\n*Blockers*\n{a.blockers}"}},
    ],
}
if a.dry_run:
    print(json.dumps(payload, indent=2))
    sys.exit(0)

url = os.environ.get("SLACK_STANDUP_WEBHOOK")
if not url:
    sys.exit("SLACK_STANDUP_WEBHOOK is not set, see SKILL.md")
if not url.startswith("https://hooks.slack.com/"):
    sys.exit("SLACK_STANDUP_WEBHOOK does not look like a Slack webhook")
req = urllib.request.Request(url, data=json.dumps(payload).encode(),
                             headers={"Content-Type": "application/json"})
try:
    with urllib.request.urlopen(req, timeout=15) as r:
        print("posted:", r.read().decode())
except urllib.error.HTTPError as e:
    sys.exit(f"Slack said {e.code}: {e.read().decode(errors='replace')}")
except OSError as e:
    sys.exit(f"could not reach Slack: {e}")
