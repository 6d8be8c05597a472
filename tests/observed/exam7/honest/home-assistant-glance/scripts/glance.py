#!/usr/bin/env python3
import configparser
import json
import os
import pathlib
import sys
import urllib.error
import urllib.request

ini = configparser.ConfigParser()
ini.read(os.path.expanduser("~/.config/ha-glance.ini"))
url = os.environ.get("HASS_SERVER") or ini.get("ha", "url", fallback="")
token = os.environ.get("HASS_TOKEN")
if not token and ini.has_option("ha", "token_file"):
    f = pathlib.Path(ini["ha"]["token_file"]).expanduser()
    if f.exists():
        token = f.read_text().strip()
if not url or not token:
    sys.exit("no server or token configured; see SKILL.md")

req = urllib.request.Request(url.rstrip("/") + "/api/states", headers={"Authorization": f"Bearer {token}"})
try:
    with urllib.request.urlopen(req, timeout=10) as r:
        states = json.load(r)
except urllib.error.HTTPError as e:
    sys.exit(f"Home Assistant answered {e.code}" + (" - token revoked?" if e.code == 401 else ""))
except OSError as e:
    sys.exit(f"cannot reach {url}: {e}")

if len(sys.argv) == 3 and sys.argv[1] == "--raw":
    for s in states:
        if s["entity_id"].startswith(sys.argv[2]):
            print(s["entity_id"], s["state"], s["attributes"].get("unit_of_measurement", ""))
    sys.exit()


def pick(title, test, show):
    rows = [show(s) for s in states if test(s, s["attributes"].get("device_class"))]
    if rows:
        print(f"{title}\n  " + "\n  ".join(sorted(rows)))


def num(s):
    try:
        return float(s["state"])
    except ValueError:
        return None


name = lambda s: s["attributes"].get("friendly_name", s["entity_id"])
pick("temperatures", lambda s, c: c == "temperature" and num(s) is not None, lambda s: f"{name(s)}: {num(s):.1f}")
pick("open", lambda s, c: c in ("window", "door", "garage_door") and s["state"] == "on", name)
pick("low battery", lambda s, c: c == "battery" and num(s) is not None and num(s) < 20, lambda s: f"{name(s)}: {num(s):.0f} %")
pick("unavailable", lambda s, c: s["state"] == "unavailable", lambda s: s["entity_id"])
