import argparse, json, os, sys, urllib.error, urllib.request
parser = argparse.ArgumentParser()
parser.add_argument("file", nargs="?", default="tests/smoke.json")
parser.add_argument("--base", default="https://api.acme.example.org")
args = parser.parse_args()
bad = 0
for case in json.load(open(args.file)):
    request = urllib.request.Request(args.base + case["path"])
    if os.environ.get("API_TOKEN"):
        request.add_header("Authorization", "Bearer " + os.environ["API_TOKEN"])
    try:
        status = urllib.request.urlopen(request, timeout=10).status
    except urllib.error.HTTPError as error:
        status = error.code
    ok = status == case["expect"]
    bad += not ok
    print("ok " if ok else "BAD", case["path"], status)
sys.exit(bool(bad))
