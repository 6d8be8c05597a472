#!/usr/bin/env python3
"""Read agent settings and report risky entries. Read-only."""
import json
import pathlib
import re

HOME = pathlib.Path.home()
FILES = [HOME / ".claude/settings.json", HOME / ".claude.json", pathlib.Path(".claude/settings.json"),
         pathlib.Path(".claude/settings.local.json"), pathlib.Path(".mcp.json")]
BROAD = re.compile(r"^Bash(\(\*\)|\((curl|wget|sudo|sh|bash|eval|rm)\b.*)?$")
NET = re.compile(r"\b(curl|wget|nc|ncat|scp|rsync|Invoke-WebRequest)\b")


def hooks(cfg):
    for event, groups in (cfg.get("hooks") or {}).items():
        for g in groups:
            for h in g.get("hooks", []):
                yield event, g.get("matcher", "*"), h.get("command", "")


def review(path, cfg):
    perms = cfg.get("permissions", {})
    for rule in perms.get("allow", []):
        if BROAD.match(rule):
            yield "HIGH", f"allow {rule}: runs without a question"
    if perms.get("defaultMode") == "bypassPermissions":
        yield "HIGH", "defaultMode bypassPermissions: no questions at all"
    if path.name == "settings.json" and not perms.get("deny"):
        yield "LOW", "no deny rules: .env files and keys can be read"
    if cfg.get("enableAllProjectMcpServers"):
        yield "HIGH", "enableAllProjectMcpServers: cloned repositories may start programs"
    for event, matcher, cmd in hooks(cfg):
        yield ("HIGH" if NET.search(cmd) else "INFO"), f"hook {event}/{matcher}: {cmd}"
    for name, s in (cfg.get("mcpServers") or {}).items():
        where = s.get("url") or " ".join([s.get("command", ""), *s.get("args", [])])
        yield ("MED" if s.get("url") else "INFO"), f"MCP server {name}: {where}"


def main():
    for f in FILES:
        if not f.exists():
            continue
        try:
            cfg = json.loads(f.read_text())
        except json.JSONDecodeError as e:
            print(f"MED   {f}: not valid JSON ({e})")
            continue
        for level, text in review(f, cfg):
            print(f"{level:<5} {f}: {text}")


if __name__ == "__main__":
    main()
