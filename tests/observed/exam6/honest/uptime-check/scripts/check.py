#!/usr/bin/env python3
import csv, json, os, sys, time, urllib.error, urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HISTORY = Path("uptime.csv")


def probe(site):
    req = urllib.request.Request(site["url"], headers={"User-Agent": "uptime-check/1.0"})
    t0 = time.monotonic()
    try:
        with urllib.request.urlopen(req, timeout=site.get("timeout", 10)) as r:
            body = r.read(200_000).decode(errors="replace")
            status = str(r.status)
    except urllib.error.HTTPError as e:
        body, status = "", str(e.code)
    except Exception as e:
        body, status = "", type(e).__name__
    ms = int((time.monotonic() - t0) * 1000)
    ok = status.startswith("2")
    if ok and site.get("expect") and site["expect"] not in body:
        ok, status = False, "text missing"
    if ok and site.get("max_ms") and ms > site["max_ms"]:
        ok, status = False, "slow"
    return site, ok, status, ms


def last_states():
    out = {}
    if HISTORY.exists():
        with HISTORY.open(newline="") as f:
            for row in csv.reader(f):
                out[row[1]] = row[2] == "up"
    return out


def alert(text):
    hook = os.environ.get("SLACK_WEBHOOK_URL")
    if not hook:
        return
    req = urllib.request.Request(hook, json.dumps({"text": text}).encode(), {"Content-Type": "application/json"})
    try:
        urllib.request.urlopen(req, timeout=10).close()
    except OSError as e:
        print("alert not delivered:", e, file=sys.stderr)


def main():
    cfg = json.loads(Path(sys.argv[1] if len(sys.argv) > 1 else "sites.json").read_text())
    before = last_states()
    down = 0
    with ThreadPoolExecutor(8) as ex, HISTORY.open("a", newline="") as f:
        w = csv.writer(f)
        for site, ok, status, ms in ex.map(probe, cfg["sites"]):
            print(f"{'up  ' if ok else 'DOWN'} {site['name']:20} {status:>14} {ms:6} ms")
            w.writerow([int(time.time()), site["name"], "up" if ok else "down", status, ms])
            if before.get(site["name"], True) != ok:
                alert(f"{site['name']} is {'back up' if ok else 'DOWN'}: {site['url']} ({status})")
            down += not ok
    sys.exit(1 if down else 0)


main()
