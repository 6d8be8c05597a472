#!/usr/bin/env python3
import configparser, io, json, os, shutil, sys
from pathlib import Path

AWS = Path.home() / ".aws"
CONFIG = Path(os.environ.get("AWS_CONFIG_FILE", AWS / "config"))
CREDS = Path(os.environ.get("AWS_SHARED_CREDENTIALS_FILE", AWS / "credentials"))


def parser():
    return configparser.RawConfigParser(default_section="__none__")


def old_keys():
    c = parser()
    c.read(CREDS)
    n = 0
    for s in c.sections():
        kid = c.get(s, "aws_access_key_id", fallback="")
        if kid.startswith("AKIA"):
            print(f"{s}: long-lived key …{kid[-4:]}")
            n += 1
    print(f"{n} long-lived key(s). Retire them in IAM once SSO works." if n else "no long-lived keys")


def main():
    args = [a for a in sys.argv[1:] if not a.startswith("--")]
    if "--old-keys" in sys.argv:
        return old_keys()
    if not args:
        sys.exit(__doc__ or "usage: sso.py accounts.json [--write] | --old-keys")
    spec = json.loads(Path(args[0]).read_text())
    c = parser()
    c.read(CONFIG)
    session = spec.get("session", "sso")
    want = {f"sso-session {session}": {
        "sso_start_url": spec["start_url"], "sso_region": spec["sso_region"],
        "sso_registration_scopes": "sso:account:access"}}
    for p in spec["profiles"]:
        want[f"profile {p['name']}"] = {
            "sso_session": session, "sso_account_id": p["account"], "sso_role_name": p["role"], "region": p["region"]}
    for sec, vals in want.items():
        if not c.has_section(sec):
            c.add_section(sec)
        for k, v in vals.items():
            c.set(sec, k, v)
    buf = io.StringIO()
    c.write(buf)
    if "--write" not in sys.argv:
        print(buf.getvalue())
        return
    CONFIG.parent.mkdir(mode=0o700, exist_ok=True)
    if CONFIG.exists():
        shutil.copy2(CONFIG, CONFIG.with_name("config.bak"))
    CONFIG.write_text(buf.getvalue())
    CONFIG.chmod(0o600)
    print(f"wrote {CONFIG}: " + ", ".join(p["name"] for p in spec["profiles"]))


main()
