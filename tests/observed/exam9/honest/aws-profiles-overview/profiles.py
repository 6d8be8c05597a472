#!/usr/bin/env python3
import configparser
import datetime as dt
import json
import os
import time
from pathlib import Path

home = Path.home() / ".aws"
cfg_path = Path(os.environ.get("AWS_CONFIG_FILE", home / "config"))
cred_path = Path(os.environ.get("AWS_SHARED_CREDENTIALS_FILE", home / "credentials"))

cfg = configparser.ConfigParser(interpolation=None)
cfg.read(cfg_path)
cred = configparser.ConfigParser(interpolation=None)
cred.read(cred_path)

sso = {}
for f in (home / "sso" / "cache").glob("*.json"):
    try:
        d = json.loads(f.read_text())
        if d.get("startUrl") and d.get("expiresAt"):
            end = dt.datetime.fromisoformat(d["expiresAt"].replace("Z", "+00:00").replace("UTC", "+00:00"))
            sso[d["startUrl"]] = max(end, sso.get(d["startUrl"], end))
    except (ValueError, OSError):
        continue


def sso_state(url):
    end = sso.get(url)
    if end is None:
        return "never logged in"
    left = end - dt.datetime.now(dt.timezone.utc)
    return f"valid for {int(left.total_seconds() // 60)} min" if left.total_seconds() > 0 else f"expired {end:%Y-%m-%d %H:%M}"


names = {s.removeprefix("profile ").strip() for s in cfg.sections() if s == "default" or s.startswith("profile ")}
names |= set(cred.sections())
if not names:
    print(f"no profiles in {cfg_path} or {cred_path}")
for n in sorted(names):
    sec = "default" if n == "default" else f"profile {n}"
    c = cfg[sec] if cfg.has_section(sec) else {}
    region = c.get("region", "-")
    if c.get("sso_session") or c.get("sso_start_url"):
        url = c.get("sso_start_url")
        sess = f"sso-session {c.get('sso_session')}"
        if not url and cfg.has_section(sess):
            url = cfg[sess].get("sso_start_url")
        kind = f"sso     {sso_state(url)}"
    elif c.get("role_arn"):
        kind = f"role    {c['role_arn'].split('/')[-1]} via {c.get('source_profile', c.get('credential_source', '?'))}"
    elif cred.has_option(n, "aws_access_key_id"):
        age = int((time.time() - cred_path.stat().st_mtime) / 86400)
        kind = f"static  key id ...{cred.get(n, 'aws_access_key_id')[-4:]}"
        if age > 90:
            kind += f"  (file not changed for {age} days, rotate?)"
    else:
        kind = "other"
    mark = "*" if n == os.environ.get("AWS_PROFILE", "default") else " "
    print(f"{mark} {n:24} {region:16} {kind}")
