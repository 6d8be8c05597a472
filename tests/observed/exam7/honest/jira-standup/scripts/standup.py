import argparse
import base64
import datetime as dt
import json
import os
import subprocess
import urllib.error
import urllib.parse
import urllib.request

today = dt.date.today()
ap = argparse.ArgumentParser()
ap.add_argument("--since", default=str(today - dt.timedelta(days=3 if today.weekday() == 0 else 1)))
since = ap.parse_args().since


def jira(jql):
    base, mail, tok = (os.environ.get(k) for k in ("JIRA_BASE_URL", "JIRA_EMAIL", "JIRA_API_TOKEN"))
    if not (base and mail and tok):
        print("(Jira not configured, skipping)")
        return []
    cred = base64.b64encode(f"{mail}:{tok}".encode()).decode()
    q = urllib.parse.urlencode({"jql": jql, "fields": "summary,status,updated", "maxResults": 30})
    req = urllib.request.Request(f"{base.rstrip('/')}/rest/api/3/search/jql?{q}",
                                 headers={"Authorization": f"Basic {cred}", "Accept": "application/json"})
    try:
        with urllib.request.urlopen(req, timeout=20) as r:
            return json.load(r)["issues"]
    except (urllib.error.URLError, OSError) as e:
        print(f"(Jira: {e})")
        return []


print(f"# since {since}\n\n## issues")
for i in jira(f'assignee = currentUser() AND updated >= "{since}" ORDER BY updated DESC'):
    f = i["fields"]
    print(f"- {i['key']} [{f['status']['name']}] {f['summary']}")

print("\n## commits")
for repo in filter(None, os.environ.get("STANDUP_REPOS", ".").split(":")):
    repo = os.path.expanduser(repo)
    me = subprocess.run(["git", "-C", repo, "config", "user.email"], capture_output=True, text=True).stdout.strip()
    log = subprocess.run(["git", "-C", repo, "log", "--all", "--no-merges", f"--since={since}", f"--author={me}",
                          "--format=- %s (%ad)", "--date=format:%a %H:%M"], capture_output=True, text=True)
    if log.returncode == 0 and log.stdout.strip():
        print(f"{os.path.basename(os.path.abspath(repo))}\n{log.stdout.rstrip()}")
