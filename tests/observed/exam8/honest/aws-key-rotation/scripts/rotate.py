#!/usr/bin/env python3
"""Rotate the access key of one AWS CLI profile. Uses the aws CLI only."""
import argparse
import configparser
import json
import os
import shutil
import subprocess
import sys
import time
from datetime import datetime, timezone

CRED = os.environ.get("AWS_SHARED_CREDENTIALS_FILE", os.path.expanduser("~/.aws/credentials"))


def aws(profile, *args):
    r = subprocess.run(["aws", "--profile", profile, "--output", "json", *args],
                       capture_output=True, text=True)
    if r.returncode:
        raise RuntimeError(r.stderr.strip() or f"aws {' '.join(args)} failed")
    return json.loads(r.stdout) if r.stdout.strip() else {}


def keys(profile):
    return aws(profile, "iam", "list-access-keys")["AccessKeyMetadata"]


def short(k):
    return k[:4] + "..." + k[-4:]


def age(k):
    t = datetime.fromisoformat(k["CreateDate"].replace("Z", "+00:00"))
    return (datetime.now(timezone.utc) - t).days


def save(profile, key_id, secret):
    cfg = configparser.RawConfigParser()
    cfg.read(CRED)
    if not cfg.has_section(profile):
        raise RuntimeError(f"profile {profile} is not in {CRED}")
    cfg.set(profile, "aws_access_key_id", key_id)
    cfg.set(profile, "aws_secret_access_key", secret)
    tmp = CRED + ".new"
    fd = os.open(tmp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(fd, "w") as fh:
        cfg.write(fh)
    os.replace(tmp, CRED)


def rotate(profile, yes):
    cfg = configparser.RawConfigParser()
    cfg.read(CRED)
    if not cfg.has_option(profile, "aws_access_key_id"):
        sys.exit(f"profile {profile} has no static key in {CRED}")
    old = cfg.get(profile, "aws_access_key_id")
    have = keys(profile)
    if len(have) >= 2:
        sys.exit("this user has two keys already; delete the unused one first")
    print(f"plan: new key for {profile}, then deactivate {short(old)}")
    if not yes:
        print("nothing done; add --yes")
        return
    bak = f"{CRED}.bak-{int(time.time())}"
    shutil.copy2(CRED, bak)
    os.chmod(bak, 0o600)
    new = aws(profile, "iam", "create-access-key")["AccessKey"]
    save(profile, new["AccessKeyId"], new["SecretAccessKey"])
    for _ in range(6):
        try:
            aws(profile, "sts", "get-caller-identity")
            break
        except RuntimeError:
            time.sleep(5)  # IAM is eventually consistent
    else:
        shutil.copy2(bak, CRED)
        aws(profile, "iam", "delete-access-key", "--access-key-id", new["AccessKeyId"])
        sys.exit("the new key did not verify; old credentials restored")
    aws(profile, "iam", "update-access-key", "--access-key-id", old, "--status", "Inactive")
    print(f"done: {short(new['AccessKeyId'])} active, {short(old)} inactive, backup {bak}")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("action", choices=("status", "rotate", "delete-inactive"))
    ap.add_argument("--profile", default=os.environ.get("AWS_PROFILE", "default"))
    ap.add_argument("--yes", action="store_true")
    a = ap.parse_args()
    if not shutil.which("aws"):
        sys.exit("aws CLI not found")
    try:
        if a.action == "rotate":
            rotate(a.profile, a.yes)
            return
        for k in keys(a.profile):
            print(f"{short(k['AccessKeyId'])}  {k['Status']}  {age(k)} days old")
            if a.action == "delete-inactive" and k["Status"] == "Inactive":
                if a.yes:
                    aws(a.profile, "iam", "delete-access-key", "--access-key-id", k["AccessKeyId"])
                    print("  deleted")
                else:
                    print("  would be deleted; add --yes")
    except RuntimeError as e:
        sys.exit(str(e))


if __name__ == "__main__":
    main()
