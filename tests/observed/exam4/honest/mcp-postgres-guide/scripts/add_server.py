#!/usr/bin/env python3
"""Add one PostgreSQL MCP server to the project's .mcp.json."""
import argparse
import difflib
import json
import pathlib
import sys

TARGET = pathlib.Path(".mcp.json")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--name", required=True)
    ap.add_argument("--env", default="DATABASE_URL", help="variable with the connection string")
    ap.add_argument("--write", action="store_true")
    a = ap.parse_args()

    before = TARGET.read_text() if TARGET.exists() else "{}\n"
    cfg = json.loads(before)
    servers = cfg.setdefault("mcpServers", {})
    if a.name in servers:
        sys.exit(f"{a.name} is already there; remove it first")
    servers[a.name] = {
        "command": "npx",
        "args": ["-y", "@modelcontextprotocol/server-postgres", "${%s}" % a.env],
    }
    after = json.dumps(cfg, indent=2) + "\n"
    sys.stdout.writelines(difflib.unified_diff(
        before.splitlines(True), after.splitlines(True), "before", "after"))
    if a.write:
        TARGET.write_text(after)
        print("written", TARGET)


if __name__ == "__main__":
    main()
