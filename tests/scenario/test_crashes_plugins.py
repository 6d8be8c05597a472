"""Every verb about plugins is broken off at every step on disk: killed, on a full disk, on a failing one, in turn. Nothing is lost.

Afterwards no edit is lost, no skill has two owners, what is written down and what is in the store agree, and nothing is left lying
about. `bench/plugins_safety.py` has every fault at every step.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fakes.breaking_plugins import OPERATIONS, Operation, run
from fakes.hands import apart, ended_with
from fakes.kits import Kits

from metier.errors import StoreError
from metier.plugins import mirror_store

if TYPE_CHECKING:
    pass

FEWEST = 20
"""A verb with fewer steps than this was not watched."""


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_a_verb_broken_off_at_any_step_loses_nothing(scratch: Path, operation: Operation) -> None:
    found = run(scratch, operation.name, ["SIGKILL", "ENOSPC", "EIO"], "settled")

    assert () == found.wrong
    assert found.tried > FEWEST


@pytest.mark.parametrize("name", ["enable", "disable"])
def test_saying_it_again_after_a_crash_does_it(scratch: Path, name: str) -> None:
    found = run(scratch, name, ["SIGKILL"], "again")

    assert () == found.wrong


@pytest.mark.parametrize("name", ["accept", "adopt"])
def test_whoever_settles_it_may_be_killed_too(scratch: Path, name: str) -> None:
    found = run(scratch, name, ["SIGKILL"], "twice")

    assert () == found.wrong


def test_while_another_process_is_at_it_readers_answer_and_whoever_will_not_wait_is_told(
    tmp_path: Path,
) -> None:
    kits, held, done = Kits(tmp_path / "world"), os.pipe(), os.pipe()
    with kits.library() as library:
        library.plugin_enable(str(kits.source("kit")), consent=lambda _plan: True)
    kits.edit("alpha", 0, "mine")
    kits.ship("kit", "alpha", ("one", "one", "theirs"))

    def hold() -> None:
        with kits.library() as library, mirror_store.hold_lock(library.context):
            os.write(held[1], b".")
            os.read(done[0], 1)

    child = apart(hold)
    os.read(held[0], 1)
    codes = []
    with kits.library() as library:
        for act in (
            library.plugin_sync,
            lambda **how: library.plugin_pause("kit", **how),
            lambda **how: library.plugin_adopt("kit", "alpha", **how),
            lambda **how: library.plugin_disable("kit", disable_linked_skills=True, **how),
        ):
            with pytest.raises(StoreError) as caught:
                act(blocking=False)
            codes.append(caught.value.code)
        listed, waiting, version = (
            library.plugins().plugins,
            library.candidates(),
            library.version("alpha").version.version,
        )
    os.write(done[1], b".")
    ended = ended_with(child)
    with kits.library() as library:
        after = library.plugin_sync(blocking=False)

    assert ["busy"] * 4 == codes
    assert (["synced"], [], "v0001") == ([one.status for one in listed], waiting, version)
    assert (0, 1, []) == (ended, len(after.opened), kits.wrong())
