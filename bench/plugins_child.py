"""Mirrored plugins in a process of their own, for `bench/plugins.py`. Each prints one JSON object.

    python bench/plugins_child.py build MARKET PROJECT     mirror every plugin of a marketplace folder
    python bench/plugins_child.py sync PROJECT ROUNDS      `plugin_sync` in a library just opened, then again in the same one
    python bench/plugins_child.py floor FOLDER...          the bare pass over stats
    python bench/plugins_child.py profile PROJECT          where the time of a `plugin_sync` goes

Building does what `plugin enable` does for each plugin, with the source opened once for all of them
and without the scan, whose verdicts a sync with nothing new never asks for: enabling them one by
one takes hours.
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
from metier.plugins import mirror_store, read_source
from metier.plugins.mirror_ledger import Ledger, ShippedSkill
from metier.plugins.mirror_store import hashes_of_laid
from metier.plugins.model import PluginRecord
from metier.store.io.atomic_change import Switch
from metier.supply import deploy, fetch, places

if TYPE_CHECKING:
    from metier.library import Library
    from metier.plugins.mirror_store import MirroredPlace
    from metier.plugins.read_source import ShippedPlugin

BATCH = 50
"""Plugins in one change."""
AT = "2026-01-01T00:00:00Z"


def build(market: str, project: str) -> dict[str, Any]:
    """Mirror every plugin of a marketplace folder."""
    began = time.perf_counter()
    with metier.open(cwd=project) as library:
        ground = mirror_store.read(library.context, places.place_of(library.context, user=False))
        with read_source.open_source(
            library.context, fetch.request_for(library.context, market, "")
        ) as opened:
            offers = opened.plugins()
            for at in range(0, len(offers), BATCH):
                shipped = [
                    found
                    for offer in offers[at : at + BATCH]
                    if (found := opened.shipped(offer.name)) is not None
                ]
                ground = mirrored(library, ground, shipped)
        done = len(ground.mirror.plugins), len(ground.mirror.skills), len(ground.data or b"")
    return {
        "seconds": time.perf_counter() - began,
        "plugins": done[0],
        "skills": done[1],
        "bytes": done[2],
    }


def mirrored(
    library: Library, ground: MirroredPlace, shipped: list[ShippedPlugin]
) -> MirroredPlace:
    """Put the skills of some plugins in place, and write them down, in one change."""
    ledger, switches, store = (
        Ledger(ground.mirror, AT),
        list[Switch](),
        places.store_of(library.context),
    )
    with (
        fetch.open_quarantine(library.context) as desk,
        mirror_store.hold_lock(library.context) as changer,
    ):
        for one in shipped:
            offer = one.offer
            ledger.put_plugin(
                PluginRecord(
                    offer.plugin_id,
                    offer.name,
                    offer.format,
                    offer.source,
                    enabled=True,
                    status="synced",
                    installed_version=offer.version,
                    commit=one.commit,
                    skills=(),
                )
            )
            for source, picked in one.skills:
                laid = fetch.lay_out(library.context, desk, source, picked)
                assert isinstance(laid, fetch.FetchedSkill), laid
                seen = ShippedSkill(picked.path, hashes_of_laid(laid))
                store.take(laid.folder, laid.files)
                targets = deploy.targets_for(library.context, ground.place, picked.name, ())
                ledger.take_over(offer.plugin_id, picked.name, seen, targets)
                switches += deploy.switches(
                    ground.place, targets, laid.digest, deploy.target_states(ground.place, targets)
                )
            ledger.settle_status(offer.plugin_id)
        return mirror_store.apply_change(ground, ledger.as_mirror(), switches, changer)


def sync(project: str, rounds: int) -> dict[str, Any]:
    """Sync in a library that was just opened, and again in the same one; imports are not in the
    time.
    """
    with (
        tempfile.TemporaryDirectory() as empty,
        metier.open(cwd=empty, home=f"{empty}/state") as library,
    ):
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
    return {
        "seconds": times,
        "cpu": cpu,
        "plugins": len(last.plugins),
        "skills": sum(len(one.skills) for one in last.plugins),
        "changed": [one.changed for one in rows],
        "opened": [len(one.opened) for one in rows],
        "told": [*last.notes, *(str(one) for one in last.unreachable)][:3],
        "peak": peak(),
    }


def floor(folders: list[str]) -> dict[str, Any]:
    """List and stat everything, after one pass that is not measured."""
    plugins_data.stat_pass(folders)
    began, used = time.perf_counter(), time.process_time()
    entries = plugins_data.stat_pass(folders)
    return {
        "seconds": time.perf_counter() - began,
        "cpu": time.process_time() - used,
        "entries": entries,
        "peak": peak(),
    }


def profile(project: str) -> dict[str, Any]:
    """Say which functions take the time, without those they call."""
    watch = cProfile.Profile()
    with metier.open(cwd=project) as library:
        library.plugin_sync()
        watch.enable()
        library.plugin_sync()
        watch.disable()
    rows = pstats.Stats(watch).stats.items()  # type: ignore[attr-defined]
    found = sorted(
        ((own, total, calls, where) for where, (calls, _all, own, total, _by) in rows), reverse=True
    )
    top = f"{os.path.dirname(metier.__file__)}/"
    named = (
        (
            f"{file.removeprefix(top)}:{name}" if file.startswith(top) else name,
            calls,
            round(own, 3),
            round(total, 3),
        )
        for own, total, calls, (file, _line, name) in found[:25]
    )
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
