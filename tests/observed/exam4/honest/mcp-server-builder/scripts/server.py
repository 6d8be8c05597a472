#!/usr/bin/env python3
"""Tiny MCP server over stdio: search and read notes in one folder."""
import json
import pathlib
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").expanduser().resolve()
TOOLS = [
    {"name": "search_notes", "description": "Search Markdown notes for a phrase.",
     "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}},
    {"name": "read_note", "description": "Read one note by its relative path.",
     "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}},
]


def search_notes(query):
    hits = []
    for p in ROOT.rglob("*.md"):
        for n, line in enumerate(p.read_text(errors="replace").splitlines(), 1):
            if query.lower() in line.lower():
                hits.append(f"{p.relative_to(ROOT)}:{n}: {line.strip()[:160]}")
    return "\n".join(hits[:50]) or "no hits"


def read_note(path):
    p = (ROOT / path).resolve()
    if not p.is_relative_to(ROOT) or p.suffix != ".md":
        raise ValueError("outside of the notes folder")
    return p.read_text(errors="replace")[:20000]


CALLS = {"search_notes": search_notes, "read_note": read_note}


def handle(m):
    method, params = m.get("method"), m.get("params", {})
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion", "2024-11-05"),
                "capabilities": {"tools": {}}, "serverInfo": {"name": "notes", "version": "0.1"}}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        try:
            text, err = CALLS[params["name"]](**params.get("arguments", {})), False
        except Exception as e:
            text, err = f"{type(e).__name__}: {e}", True
        return {"content": [{"type": "text", "text": text}], "isError": err}
    return None


for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m:
        continue
    res = handle(m)
    out = {"jsonrpc": "2.0", "id": m["id"]}
    out.update({"result": res} if res is not None else {"error": {"code": -32601, "message": "unknown method"}})
    print(json.dumps(out), flush=True)
