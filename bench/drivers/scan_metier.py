"""Scan the folders named on standard input with metier, without its cache; one JSON line for each.
Rules alone, or with `--model` also the model that reads prose.
"""

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import corpus

from metier.find.io.embedding_model import OnnxReader
from metier.scan.engine import scan

reader = OnnxReader() if "--model" in sys.argv[1:] else None
if reader is not None:
    reader.read(["Loaded before the clock starts, as all else that is imported."])
for line in sys.stdin:
    began = time.process_time()
    verdict = scan(corpus.tree_of(Path(line.rstrip("\n"))), reader=reader)
    seconds = time.process_time() - began
    peak = int(
        Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]
    )  # this program's own, in kB
    print(
        json.dumps(
            {"seconds": seconds, "level": verdict.level, "score": verdict.score, "peak": peak}
        ),
        flush=True,
    )
