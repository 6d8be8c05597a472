"""Find with metier: `m.find` on an open library whose index is there, or that index's engine alone.
FOLDER, HOME, CONFIG, which.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import metier
from metier.find.io.embedding_model import OnnxEmbedder
from metier.find.io.index_folder import folder_engine
from metier.find.model import IndexQuery
from metier.find.service import CANDIDATE_POOL

folder, home, config, which = sys.argv[1:]


def answer(ask: Callable[[str], tuple[float, Any]], names: Callable[[Any], list[str]]) -> None:
    """Answer the queries on standard input, one JSON line for each."""
    for line in sys.stdin:
        text = json.loads(line)
        seconds, found = ask(text)
        peak = int(
            Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]
        )  # this program's own, in kB
        print(json.dumps({"seconds": seconds, "peak": peak, "names": names(found)}), flush=True)


def ready(began: float) -> None:
    """Say that queries may come."""
    print(json.dumps({"seconds": time.perf_counter() - began, "bytes": 0}), flush=True)


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """Run something; give the seconds and its answer."""
    began = time.perf_counter()
    found = run()
    return time.perf_counter() - began, found


start = time.perf_counter()
if which == "find":
    with metier.open(roots=[folder], home=home, config=config) as library:
        library.find("anything at all")
        ready(start)
        answer(
            lambda text: timed(lambda: library.find(text)), lambda hits: [hit.name for hit in hits]
        )
else:
    engine = folder_engine(str(next(Path(home, "route").iterdir())), None)
    embedder = None if "off" in Path(config).read_text(encoding="utf-8") else OnnxEmbedder()

    def query(text: str) -> tuple[float, Any]:
        """Ask the engine alone; the query is embedded before."""
        vector = None if embedder is None else embedder.queries([text])[0]
        return timed(lambda: engine.query(IndexQuery(text, CANDIDATE_POOL, vector=vector)))

    query("anything at all")
    ready(start)
    answer(query, lambda _found: [])
