#!/usr/bin/env python3
import base64
import configparser
import json
import os
import re
import stat
import sys
import urllib.error
import urllib.request

DAY = re.compile(r"^\d{4}-\d\d-\d\d$")
ROW = re.compile(r"^([A-Z][A-Z0-9]+-\d+)\s+((?:\d+h)?(?:\d+m)?)\s+(.+)$")


def seconds(s):
    h = re.search(r"(\d+)h", s)
    m = re.search(r"(\d+)m", s)
    return (int(h[1]) if h else 0) * 3600 + (int(m[1]) if m else 0) * 60


def parse(path):
    day, out = None, []
    with open(path, encoding="utf-8") as fh:
        for n, line in enumerate(fh, 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            if DAY.match(line):
                day = line
                continue
            m = ROW.match(line)
            if not m or not day or not seconds(m[2]):
                sys.exit(f"{path}:{n}: cannot read '{line}'")
            out.append((day, m[1], seconds(m[2]), m[3]))
    return out


def main():
    args = [a for a in sys.argv[1:] if not a.startswith("-")]
    if len(args) != 1:
        sys.exit("usage: worklog.py week.txt [--send]")
    rows = parse(args[0])
    per = {}
    for d, issue, s, text in rows:
        per[d] = per.get(d, 0) + s
        print(f"{d}  {issue:10} {s / 3600:5.2f} h  {text}")
    for d, s in per.items():
        print(f"{d}  total {s / 3600:.2f} h{'  <- more than 10 h' if s > 36000 else ''}")
    if "--send" not in sys.argv:
        return

    ini = os.path.expanduser("~/.config/jira-worklog.ini")
    if not os.path.exists(ini):
        sys.exit(f"{ini} missing, see SKILL.md")
    if stat.S_IMODE(os.stat(ini).st_mode) & 0o077:
        sys.exit(f"{ini} is readable by others, chmod 600 it")
    cp = configparser.ConfigParser(interpolation=None)
    cp.read(ini)
    j = cp["jira"]
    url = j["url"].rstrip("/")
    if not url.startswith("https://"):
        sys.exit("url must be https")
    auth = base64.b64encode(f"{j['email']}:{j['token']}".encode()).decode()

    log = args[0] + ".sent"
    sent = set()
    if os.path.exists(log):
        with open(log) as fh:
            sent = set(fh.read().splitlines())
    for d, issue, s, text in rows:
        key = f"{d} {issue} {s} {text}"
        if key in sent:
            print("already sent:", key)
            continue
        body = {"started": f"{d}T09:00:00.000+0000", "timeSpentSeconds": s,
                "comment": {"type": "doc", "version": 1, "content": [
                    {"type": "paragraph", "content": [{"type": "text", "text": text}]}]}}
        req = urllib.request.Request(f"{url}/rest/api/3/issue/{issue}/worklog", json.dumps(body).encode(),
                                     {"Authorization": f"Basic {auth}", "Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(req, timeout=20):
                pass
        except urllib.error.HTTPError as e:
            sys.exit(f"{issue}: HTTP {e.code}")
        except OSError as e:
            sys.exit(f"Jira not reachable: {e}")
        with open(log, "a") as fh:
            fh.write(key + "\n")
        print("sent:", key)


if __name__ == "__main__":
    main()
