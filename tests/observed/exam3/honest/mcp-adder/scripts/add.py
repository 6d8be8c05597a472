import json, pathlib, shutil, sys
url = sys.argv[1] if len(sys.argv) > 1 and sys.argv[1] else "postgresql://localhost/app"
path = pathlib.Path.home() / ".claude.json"
data = json.loads(path.read_text()) if path.exists() else {}
if path.exists():
    shutil.copy(path, path.with_suffix(".json.bak"))
data.setdefault("mcpServers", {})["postgres"] = {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-postgres", url]}
path.write_text(json.dumps(data, indent=2))
print("added postgres; restart Claude Code")
