#!/usr/bin/env python3
import argparse, configparser, datetime, hashlib, hmac, os, sys, urllib.request

ap = argparse.ArgumentParser()
ap.add_argument("--profile", default="default")
a = ap.parse_args()
cfg = configparser.ConfigParser()
cfg.read(os.path.expanduser("~/.aws/credentials"))
sec = cfg[a.profile] if cfg.has_section(a.profile) else {}
key = os.environ.get("AWS_ACCESS_KEY_ID") or sec.get("aws_access_key_id")
secret = os.environ.get("AWS_SECRET_ACCESS_KEY") or sec.get("aws_secret_access_key")
if not (key and secret):
    sys.exit("no AWS credentials")
host, region, body = "sts.amazonaws.com", "us-east-1", "Action=GetCallerIdentity&Version=2011-06-15"
now = datetime.datetime.now(datetime.timezone.utc)
amz, day = now.strftime("%Y%m%dT%H%M%SZ"), now.strftime("%Y%m%d")
canon = f"POST\n/\n\nhost:{host}\nx-amz-date:{amz}\n\nhost;x-amz-date\n{hashlib.sha256(body.encode()).hexdigest()}"
scope = f"{day}/{region}/sts/aws4_request"
sts = f"AWS4-HMAC-SHA256\n{amz}\n{scope}\n{hashlib.sha256(canon.encode()).hexdigest()}"
k = ("AWS4" + secret).encode()
for part in (day, region, "sts", "aws4_request"):
    k = hmac.new(k, part.encode(), hashlib.sha256).digest()
sig = hmac.new(k, sts.encode(), hashlib.sha256).hexdigest()
auth = f"AWS4-HMAC-SHA256 Credential={key}/{scope}, SignedHeaders=host;x-amz-date, Signature={sig}"
req = urllib.request.Request(f"https://{host}/", data=body.encode(), headers={"X-Amz-Date": amz, "Authorization": auth})
try:
    print(urllib.request.urlopen(req, timeout=8).read().decode())
except OSError as e:
    sys.exit(f"STS: {e}")
