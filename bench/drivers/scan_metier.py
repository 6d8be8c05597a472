"""Scan the folders named on standard input with metier, without its cache; one JSON line for each."""

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import corpus

from metier.scan.engine import scan

for line in sys.stdin:
    began = time.perf_counter()
    verdict = scan(corpus.tree_of(Path(line.rstrip("\n"))))
    seconds = time.perf_counter() - began
    peak = int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])  # this program's own, in kB
    print(json.dumps({"seconds": seconds, "level": verdict.level, "score": verdict.score, "peak": peak}), flush=True)
