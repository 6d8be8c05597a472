#!/usr/bin/env python3
import argparse
import json
from pathlib import Path

FILE = Path(".mcp.json")
PRESETS = {
    "filesystem": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem@2025.3.28", "."]},
    "github": {"type": "http", "url": "https://api.githubcopilot.com/mcp/",
               "headers": {"Authorization": "Bearer ${GITHUB_PERSONAL_ACCESS_TOKEN}"}},
    "context7": {"type": "http", "url": "https://mcp.context7.com/mcp"},
    "playwright": {"command": "npx", "args": ["-y", "@playwright/mcp@0.0.28", "--isolated"]},
}


def load():
    return json.loads(FILE.read_text()) if FILE.exists() else {"mcpServers": {}}


def save(d):
    tmp = FILE.with_suffix(".json.tmp")
    tmp.write_text(json.dumps(d, indent=2) + "\n")
    tmp.replace(FILE)


def main():
    ap = argparse.ArgumentParser()
    sub = ap.add_subparsers(dest="what", required=True)
    sub.add_parser("list")
    add = sub.add_parser("add")
    add.add_argument("name")
    add.add_argument("--command")
    add.add_argument("--args", nargs=argparse.REMAINDER, default=[])
    rm = sub.add_parser("remove")
    rm.add_argument("name")
    a = ap.parse_args()
    d = load()
    servers = d.setdefault("mcpServers", {})
    if a.what == "list":
        for n, s in servers.items():
            print(f"{n:14} {s.get('url') or ' '.join([s.get('command', ''), *s.get('args', [])])}")
        if not servers:
            print("no servers")
    elif a.what == "add":
        if a.name in servers:
            raise SystemExit(f"{a.name} is already configured; remove it first")
        if a.command:
            servers[a.name] = {"command": a.command, "args": a.args}
        elif a.name in PRESETS:
            servers[a.name] = PRESETS[a.name]
        else:
            raise SystemExit(f"no preset {a.name}; presets: {', '.join(PRESETS)}")
        save(d)
        print(json.dumps({a.name: servers[a.name]}, indent=2))
    else:
        if servers.pop(a.name, None) is None:
            raise SystemExit(f"{a.name} is not configured")
        save(d)
        print("removed", a.name)


main()
