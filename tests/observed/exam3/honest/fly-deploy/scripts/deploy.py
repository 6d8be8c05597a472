#!/usr/bin/env python3
"""Update every machine of a Fly app to a new image."""
import argparse, json, os, re, sys, urllib.request

API = "https://api.machines.dev/v1"

def call(method, path, body=None):
    request = urllib.request.Request(API + path, method=method,
        data=json.dumps(body).encode() if body else None,
        headers={"Authorization": f"Bearer {os.environ['FLY_API_TOKEN']}", "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=15) as answer:
        return json.load(answer)

def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--image", default="registry.fly.io/app:latest")
    parser.add_argument("--dry-run", action="store_true")
    args = parser.parse_args()
    if "FLY_API_TOKEN" not in os.environ:
        sys.exit("Set FLY_API_TOKEN first (fly tokens create deploy).")
    try:
        text = open("fly.toml").read()
    except FileNotFoundError:
        text = 'app = "my-app"'
    app = re.search(r'app\s*=\s*"([^"]+)"', text).group(1)
    machines = call("GET", f"/apps/{app}/machines")
    for machine in machines if isinstance(machines, list) else []:
        print("would update" if args.dry_run else "updating", machine.get("id"))
        if not args.dry_run:
            call("POST", f"/apps/{app}/machines/{machine['id']}", {"config": {"image": args.image}})

if __name__ == "__main__":
    main()
