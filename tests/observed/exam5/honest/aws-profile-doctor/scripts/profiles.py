#!/usr/bin/env python3
import configparser
import json
import os
import subprocess
import sys
from pathlib import Path


def load(path):
    cp = configparser.ConfigParser(interpolation=None)
    if path.exists():
        cp.read(path)
    return cp


def main():
    home = Path.home() / ".aws"
    conf = load(Path(os.environ.get("AWS_CONFIG_FILE", home / "config")))
    cred = load(Path(os.environ.get("AWS_SHARED_CREDENTIALS_FILE", home / "credentials")))
    names = {s.removeprefix("profile ") for s in conf.sections() if not s.startswith("sso-session")} | set(cred.sections())
    active = os.environ.get("AWS_PROFILE") or os.environ.get("AWS_DEFAULT_PROFILE") or "default"
    if os.environ.get("AWS_ACCESS_KEY_ID"):
        print(f"! AWS_ACCESS_KEY_ID (…{os.environ['AWS_ACCESS_KEY_ID'][-4:]}) is set in the environment and wins over profiles")
    if not names:
        print("no profiles found")
    for name in sorted(names):
        sec = "default" if name == "default" else f"profile {name}"
        c = dict(conf[sec]) if conf.has_section(sec) else {}
        k = dict(cred[name]) if cred.has_section(name) else {}
        if "sso_account_id" in c or "sso_session" in c:
            kind = f"sso {c.get('sso_account_id', '')} {c.get('sso_role_name', '')}"
        elif "role_arn" in c:
            kind = f"assumes {c['role_arn']} from {c.get('source_profile', '?')}"
        elif "credential_process" in c:
            kind = "credential_process"
        elif "aws_access_key_id" in k:
            kind = f"static key …{k['aws_access_key_id'][-4:]}" + (" (temporary)" if "aws_session_token" in k else "")
        else:
            kind = "no credentials"
        print(f"{'*' if name == active else ' '} {name:20} {c.get('region', '-'):14} {kind}")
        if "--identity" in sys.argv:
            try:
                r = subprocess.run(["aws", "sts", "get-caller-identity", "--profile", name, "--output", "json"],
                                   capture_output=True, text=True, timeout=20)
                if r.returncode == 0:
                    who = json.loads(r.stdout)
                    print(f"      {who['Account']}  {who['Arn']}")
                else:
                    print(f"      {r.stderr.strip().splitlines()[-1] if r.stderr.strip() else 'failed'}")
            except (OSError, subprocess.TimeoutExpired) as e:
                print(f"      {e}")


if __name__ == "__main__":
    main()
