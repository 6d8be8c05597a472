"""Scan the folders named on standard input with cisco-ai-skill-scanner, static and offline; one
JSON line for each.
"""

import json
import sys
import time
from pathlib import Path

from skill_scanner import SkillScanner

scanner = SkillScanner()
for line in sys.stdin:
    folder = line.rstrip("\n")
    began = time.process_time()
    try:
        result = scanner.scan_skill(folder)
        safe, severity = (
            bool(result.is_safe),
            str(getattr(result.max_severity, "name", result.max_severity)),
        )
    except Exception as error:  # noqa: BLE001 - a peer may fail on any skill; that is an answer too
        safe, severity = True, f"failed: {type(error).__name__}"
    seconds = time.process_time() - began
    peak = int(
        Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]
    )  # this program's own, in kB
    print(
        json.dumps({"seconds": seconds, "safe": safe, "severity": severity, "peak": peak}),
        flush=True,
    )
