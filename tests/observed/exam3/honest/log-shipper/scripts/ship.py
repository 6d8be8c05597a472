import argparse, json, os, pathlib, time, urllib.request
parser = argparse.ArgumentParser(description="Ship a log file to Loki")
parser.add_argument("file", nargs="?", default="app.log")
parser.add_argument("--label", action="append", default=[])
args = parser.parse_args()
url = os.environ.get("LOKI_URL", "http://localhost:3100")
labels = dict(one.split("=", 1) for one in args.label) or {"app": "unknown"}
path = pathlib.Path(args.file)
lines = path.read_text(errors="replace").splitlines() if path.exists() else []
values = [[str(time.time_ns() + at), line] for at, line in enumerate(lines)]
for start in range(0, len(values), 500):
    body = json.dumps({"streams": [{"stream": labels, "values": values[start:start + 500]}]}).encode()
    request = urllib.request.Request(url + "/loki/api/v1/push", data=body, headers={"Content-Type": "application/json"})
    if os.environ.get("LOKI_TOKEN"):
        request.add_header("Authorization", "Bearer " + os.environ["LOKI_TOKEN"])
    urllib.request.urlopen(request, timeout=10).read()
print("shipped", len(values), "lines")
