"""One measured call in a fresh process, after its imports: `python bench/timed.py WHAT TREE
SMALL_TREE HOME`.

Prints one JSON object. Everything is first done once on a small tree, so that no import, whenever
it happens, is in the measured time; the floors get the same treatment as the library.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any

import floors

if TYPE_CHECKING:
    from collections.abc import Callable


def library(tree: str, home: str) -> dict[str, Any]:
    """Open the library, list every skill, close it."""
    import metier

    with metier.open(roots=[tree], home=home) as opened:
        count = len(opened.skills())
        reads = getattr(opened, "last_reads", None)
    return {"count": count, "reads": reads}


def memory(tree: str, home: str) -> dict[str, Any]:
    """List every skill and say what the process then holds, and what it held at most."""
    import metier

    with metier.open(roots=[tree], home=home) as opened:
        cards = opened.skills()
        return {"count": len(cards), **_resident()}


def reload(tree: str, home: str) -> dict[str, Any]:
    """List, change one skill, reload, and say how many skills were read again; then put the skill
    back.
    """
    import metier

    folder = min(os.listdir(tree))
    path = f"{tree}/{folder}/SKILL.md"
    with metier.open(roots=[tree], home=home) as opened:
        count = len(opened.skills())
        with open(path, "rb") as file:
            before = file.read()
        stat = os.stat(path)
        try:
            with open(path, "ab") as file:
                file.write(b"\nOne more line.\n")
            opened.reload()
            reads = getattr(opened, "last_reads", None)
            listed = len(opened.skills())
        finally:
            with open(path, "wb") as file:
                file.write(before)
            os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    return {"count": min(count, listed), "reads": reads}


def cold_floor(tree: str, home: str) -> dict[str, Any]:  # noqa: ARG001
    """Scan, read and hash."""
    return {"count": floors.cold(tree)}


def warm_floor(tree: str, home: str) -> dict[str, Any]:  # noqa: ARG001
    """Scan and stat."""
    return {"count": floors.warm(tree)}


def _resident() -> dict[str, int]:
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        lines = [line.split() for line in file]
    found = {line[0]: int(line[1]) * 1024 for line in lines if line[0] in {"VmRSS:", "VmHWM:"}}
    return {"resident": found["VmRSS:"], "peak": found["VmHWM:"]}


CALLS: dict[str, Callable[[str, str], dict[str, Any]]] = {
    "library": library,
    "memory": memory,
    "reload": reload,
    "cold-floor": cold_floor,
    "warm-floor": warm_floor,
}


def main() -> None:
    """Do the named call once unmeasured on the small tree, then once measured on the tree."""
    what, tree, small, home = sys.argv[1:]
    call = CALLS[what]
    with tempfile.TemporaryDirectory() as scratch:
        CALLS["library" if what in {"memory", "reload"} else what](small, scratch)
    cpu = time.process_time()
    began = time.perf_counter()
    result = call(tree, home)
    result["seconds"] = time.perf_counter() - began
    result["cpu"] = time.process_time() - cpu
    print(json.dumps(result))


if __name__ == "__main__":
    main()
