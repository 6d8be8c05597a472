#!/usr/bin/env python3
"""PostToolUse hook: format the file that has just been edited."""
import json
import shutil
import subprocess
import sys
from pathlib import Path

TOOLS = {
    ".py": ["black", "-q"],
    ".js": ["prettier", "--write"], ".ts": ["prettier", "--write"], ".tsx": ["prettier", "--write"],
    ".css": ["prettier", "--write"], ".md": ["prettier", "--write"],
    ".go": ["gofmt", "-w"],
    ".rs": ["rustfmt"],
}

event = json.load(sys.stdin)
path = Path(event.get("tool_input", {}).get("file_path", ""))
tool = TOOLS.get(path.suffix)
if tool and path.is_file() and shutil.which(tool[0]):
    subprocess.run([*tool, str(path)], stdout=subprocess.DEVNULL, timeout=20)
