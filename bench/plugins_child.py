"""Mirrored plugins in a process of their own, for `bench/plugins.py`. Each prints one JSON object.

    python bench/plugins_child.py build MARKET PROJECT     mirror every plugin of a marketplace folder
    python bench/plugins_child.py sync PROJECT ROUNDS      `plugin_sync` in a library just opened, then again in the same one
    python bench/plugins_child.py floor FOLDER...          the bare pass over stats
    python bench/plugins_child.py profile PROJECT          where the time of a `plugin_sync` goes

Building does what `plugin enable` does for each plugin, with the source opened once for all of them and without the scan, whose
verdicts a sync with nothing new never asks for: enabling them one by one takes hours.
"""

from __future__ import annotations

import cProfile
import json
import os
import pstats
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import plugins_data

import metier
from metier.mirroring import grounds, sourcing
from metier.mirroring.faces import laid_face
from metier.mirrors import Plugin
from metier.plugins import moves
from metier.plugins.ledger import Ledger
from metier.plugins.moves import Seen
from metier.store.changing.disk import Switch
from metier.supplying import deploying, fetching, places

if TYPE_CHECKING:
    from metier.app import Library
    from metier.mirroring.grounds import Ground
    from metier.mirroring.sourcing import Shipped

BATCH = 50
"""Plugins in one change."""
AT = "2026-01-01T00:00:00Z"


def build(market: str, project: str) -> dict[str, Any]:
    """Mirror every plugin of a marketplace folder."""
    began = time.perf_counter()
    with metier.open(cwd=project) as library:
        ground = grounds.read(library, places.place_of(library, user=False))
        with sourcing.opened(library, fetching.request_for(library, market, "")) as opened:
            offers = opened.plugins()
            for at in range(0, len(offers), BATCH):
                shipped = [found for offer in offers[at : at + BATCH] if (found := opened.shipped(offer.name)) is not None]
                ground = mirrored(library, ground, shipped)
        done = len(ground.mirror.plugins), len(ground.mirror.skills), len(ground.data or b"")
    return {"seconds": time.perf_counter() - began, "plugins": done[0], "skills": done[1], "bytes": done[2]}


def mirrored(library: Library, ground: Ground, shipped: list[Shipped]) -> Ground:
    """Put the skills of some plugins in place, and write them down, in one change."""
    ledger, switches, store = Ledger(ground.mirror), list[Switch](), places.store_of(library)
    with fetching.desk(library) as desk, grounds.alone(library) as changer:
        for one in shipped:
            offer = one.offer
            ledger.plugin(Plugin(offer.plugin_id, offer.name, offer.format, offer.source, enabled=True, status="synced",
                                 installed_version=offer.version, commit=one.commit, skills=()))  # fmt: skip
            for source, picked in one.skills:
                laid = fetching.lay(library, desk, source, picked)
                assert isinstance(laid, fetching.Laid), laid
                seen = Seen(picked.path, laid_face(laid))
                store.take(laid.folder, laid.files)
                targets = deploying.targets_for(library, ground.place, picked.name, ())
                moves.mirrored(ledger, offer.plugin_id, picked.name, seen, targets, AT)
                switches += deploying.switches(ground.place, targets, laid.digest, deploying.states(ground.place, targets))
            moves.settled(ledger, offer.plugin_id)
        return grounds.apply(library, ground, ledger.mirror(), switches, changer)


def sync(project: str, rounds: int) -> dict[str, Any]:
    """Sync in a library that was just opened, and again in the same one; imports are not in the time."""
    with tempfile.TemporaryDirectory() as empty, metier.open(cwd=empty, home=f"{empty}/state") as library:
        library.plugin_sync()
    times, cpu, rows = list[float](), list[float](), []
    began, used = time.perf_counter(), time.process_time()
    with metier.open(cwd=project) as library:
        for _round in range(1 + rounds):
            rows.append(library.plugin_sync())
            times.append(time.perf_counter() - began)
            cpu.append(time.process_time() - used)
            began, used = time.perf_counter(), time.process_time()
    last = rows[-1]
    return {"seconds": times, "cpu": cpu, "plugins": len(last.plugins), "skills": sum(len(one.skills) for one in last.plugins),
            "changed": [one.changed for one in rows], "opened": [len(one.opened) for one in rows],
            "told": [*last.notes, *(str(one) for one in last.unreachable)][:3], "peak": peak()}  # fmt: skip


def floor(folders: list[str]) -> dict[str, Any]:
    """List and stat everything, after one pass that is not measured."""
    plugins_data.stat_pass(folders)
    began, used = time.perf_counter(), time.process_time()
    entries = plugins_data.stat_pass(folders)
    return {"seconds": time.perf_counter() - began, "cpu": time.process_time() - used, "entries": entries, "peak": peak()}


def profile(project: str) -> dict[str, Any]:
    """Say which functions take the time, without those they call."""
    watch = cProfile.Profile()
    with metier.open(cwd=project) as library:
        library.plugin_sync()
        watch.enable()
        library.plugin_sync()
        watch.disable()
    rows = pstats.Stats(watch).stats.items()  # type: ignore[attr-defined]
    found = sorted(((own, total, calls, where) for where, (calls, _all, own, total, _by) in rows), reverse=True)
    top = f"{os.path.dirname(metier.__file__)}/"
    named = ((f"{file.removeprefix(top)}:{name}" if file.startswith(top) else name, calls, round(own, 3), round(total, 3))
             for own, total, calls, (file, _line, name) in found[:25])  # fmt: skip
    return {"rows": list(named)}


def peak() -> int:
    """Give the most memory that this process held, in bytes."""
    lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024


def main() -> None:
    """Do what is asked for, and tell."""
    what, *words = sys.argv[1:]
    if what == "floor":
        told = floor(words)
    elif what == "sync":
        told = sync(words[0], int(words[1]))
    else:
        told = build(*words) if what == "build" else profile(*words)
    print(json.dumps(told))


if __name__ == "__main__":
    main()
