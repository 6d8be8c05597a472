"""Find with metier: `m.find` on an open library whose index is there, and its engine's query alone. FOLDER, HOME, CONFIG."""

import json
import sys
import time
from pathlib import Path

import metier
from metier.routing import POOL
from metier.wanted import Asked


def main(folder: str, home: str, config: str) -> None:
    """Answer the queries on standard input, one JSON line for each."""
    began = time.perf_counter()
    with metier.open(roots=[folder], home=home, config=config) as library:
        library.find("anything at all")
        print(json.dumps({"seconds": time.perf_counter() - began, "bytes": 0}), flush=True)
        engine, embedder = library.routed.engine, library.routed.embedder
        for line in sys.stdin:
            text = json.loads(line)
            vector = None if embedder is None else embedder.queries([text])[0]
            began = time.perf_counter()
            found = library.find(text)
            seconds = time.perf_counter() - began
            began = time.perf_counter()
            engine.query(Asked(text, POOL, vector=vector))
            alone = time.perf_counter() - began
            peak = int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])  # this program's own, in kB
            names = [hit.name for hit in found]
            print(json.dumps({"seconds": seconds, "alone": alone, "peak": peak, "names": names}), flush=True)


main(*sys.argv[1:])
