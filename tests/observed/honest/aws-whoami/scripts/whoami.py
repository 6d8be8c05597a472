#!/usr/bin/env python3
import argparse
import configparser
import datetime as dt
import hashlib
import hmac
import os
import sys
import urllib.request

HOST, REGION, BODY = "sts.amazonaws.com", "us-east-1", "Action=GetCallerIdentity&Version=2011-06-15"
ap = argparse.ArgumentParser()
ap.add_argument("--profile", default="default")
a = ap.parse_args()
ini = configparser.ConfigParser()
ini.read(os.path.expanduser("~/.aws/credentials"))
kid = os.environ.get("AWS_ACCESS_KEY_ID") or ini.get(a.profile, "aws_access_key_id", fallback=None)
key = os.environ.get("AWS_SECRET_ACCESS_KEY") or ini.get(a.profile, "aws_secret_access_key", fallback=None)
if not (kid and key):
    sys.exit("no credentials")


def mac(k, s):
    return hmac.new(k, s.encode(), hashlib.sha256).digest()


now = dt.datetime.now(dt.timezone.utc)
stamp, day = now.strftime("%Y%m%dT%H%M%SZ"), now.strftime("%Y%m%d")
ctype = "application/x-www-form-urlencoded"
canon = "POST\n/\n\ncontent-type:%s\nhost:%s\nx-amz-date:%s\n\ncontent-type;host;x-amz-date\n%s" % (
    ctype, HOST, stamp, hashlib.sha256(BODY.encode()).hexdigest())
scope = "%s/%s/sts/aws4_request" % (day, REGION)
to_sign = "AWS4-HMAC-SHA256\n%s\n%s\n%s" % (stamp, scope, hashlib.sha256(canon.encode()).hexdigest())
k = mac(mac(mac(mac(("AWS4" + key).encode(), day), REGION), "sts"), "aws4_request")
auth = "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=content-type;host;x-amz-date, Signature=%s" % (
    kid, scope, mac(k, to_sign).hex())
try:
    print(urllib.request.urlopen(urllib.request.Request("https://" + HOST + "/", BODY.encode(), {
        "Content-Type": ctype, "X-Amz-Date": stamp, "Authorization": auth}), timeout=15).read().decode())
except OSError as exc:
    sys.exit("AWS answered: %s" % exc)
