"""One measured thing in a fresh process: `python bench/route_child.py WHAT …`; prints one JSON
object.

index TREE HOME CONFIG        bring the index up to date with everything that lies there build POOL
FOLDER             the engine's part of that alone: texts in memory in, files out open FOLDER QUERY
open an index, and answer the first query; without and with a vector change TREE HOME CONFIG
change one skill, and bring the index up to date; then put it back
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import metier
from metier.find.index.engine import memory_engine
from metier.find.io.embedding_model import OnnxEmbedder
from metier.find.io.index_folder import folder_engine
from metier.find.model import IndexQuery, SkillText
from metier.find.service import CANDIDATE_POOL


def index(tree: str, home: str, config: str) -> dict[str, Any]:
    """Index a library; listing it is not in the time."""
    with metier.open(roots=[tree], home=home, config=config) as library:
        library.skills()
        began = time.perf_counter()
        done = library.index()
        seconds = time.perf_counter() - began
        library.catalogue()  # judges every skill, so that no search after this one has to
        return {"seconds": seconds, **done._asdict()}


def build(pool: str, folder: str) -> dict[str, Any]:
    """Build an index from texts that are in memory."""
    with open(pool, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    texts = [
        SkillText(f"/{at}", b"", row["name"], row["description"], (), (), row["body"])
        for at, row in enumerate(rows)
    ]
    began = time.perf_counter()
    folder_engine(folder, None).build(texts)
    return {"seconds": time.perf_counter() - began}


def opened(folder: str, query: str) -> dict[str, Any]:
    """Open an index and answer one query, after everything was imported and the query embedded."""
    vector = OnnxEmbedder().queries([query])[0]
    small = memory_engine()
    small.build([SkillText("/a", b"", "a name", "a description", (), (), "# A heading\n\na body")])
    small.add_vectors("a model", [("/a", vector[None])])
    small.query(IndexQuery(query, CANDIDATE_POOL, vector=vector))
    found: dict[str, Any] = {}
    for what, meant in (("words", None), ("everything", vector)):
        began = time.perf_counter()
        engine = folder_engine(folder, None)
        engine.query(IndexQuery("", 1))
        found[f"open, {what}"] = time.perf_counter() - began
        engine.query(IndexQuery(query, CANDIDATE_POOL, vector=meant))
        found[f"first, {what}"] = time.perf_counter() - began
    return found


def change(tree: str, home: str, config: str) -> dict[str, Any]:
    """Change a skill: how many are read and embedded for it, and how long until the index has it,
    listing included.
    """
    path = Path(tree, min(os.listdir(tree)), "SKILL.md")
    before, stat = path.read_bytes(), path.stat()
    with metier.open(roots=[tree], home=home, config=config) as library:
        library.find("anything at all")
        try:
            path.write_bytes(before + b"\nOne more line about zymurgy.\n")
            began = time.perf_counter()
            library.reload()
            library.skills()
            listed = time.perf_counter()
            done = library.index()
            seconds = time.perf_counter() - listed
        finally:
            path.write_bytes(before)
            os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    return {
        "seconds": seconds,
        "listing": listed - began,
        "read": done.read,
        "embedded": done.embedded,
    }


CALLS: dict[str, Any] = {"index": index, "build": build, "open": opened, "change": change}

if __name__ == "__main__":
    print(json.dumps(CALLS[sys.argv[1]](*sys.argv[2:])))
