"""What `bench/supply.py` counts instead of timing: losses after crashes and among many processes,
and merges that are not git's.

It runs what the tests run (`tests/fakes`), for longer.
"""

from __future__ import annotations

import collections
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from fakes.breaking import OPERATIONS, Trial
from fakes.crowd import Crowd, crowded
from fakes.merging import Triples, merged_by_git

from metier.supply.merge.diff3 import merge3

if TYPE_CHECKING:
    from collections.abc import Callable

    from fakes.hands import Fault

WAYS: tuple[tuple[Fault, str], ...] = (
    ("SIGKILL", "sync"),
    ("SIGKILL", "again"),
    ("SIGKILL", "twice"),
    ("ENOSPC", "sync"),
    ("EIO", "sync"),
)
MEMORY = Path("/dev/shm")  # noqa: S108 - another file system, for METIER_HOME
STYLES = ("merge", "diff3", "merge", "ours", "merge", "diff3", "merge", "theirs")
SEEDS, EACH = 10, 1_000


class Counted(NamedTuple):
    """How often something was tried, and what went wrong."""

    tried: int
    wrong: list[str]
    rows: tuple[tuple[str, ...], ...] = ()


def crashes(say: Callable[[str], None]) -> Counted:
    """Break every operation off at every step, in every way; with and without an exchange of two
    paths, and across file systems.
    """
    ways = [f"{fault}, then {then}" for fault, then in WAYS]
    tried, wrong, rows = (
        0,
        list[str](),
        [("operation", "steps", *ways, "no exchange", "other disk")],
    )
    for operation in OPERATIONS:
        say(f"crashes of {operation.name}")
        with (
            tempfile.TemporaryDirectory() as scratch,
            tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as far,
        ):
            trial = Trial(Path(scratch) / "plain", operation)
            tallies = [trial.tally(fault, then=then) for fault, then in WAYS]
            tallies.append(
                Trial(Path(scratch) / "slow", operation, exchange=False).tally("SIGKILL")
            )
            tallies.append(
                Trial(Path(scratch) / "far", operation, data=Path(far) / "data").tally("SIGKILL")
            )
        tried += sum(tally.tried for tally in tallies)
        wrong += [text for tally in tallies for text in tally.wrong]
        rows.append(
            (
                operation.name,
                str(trial.steps),
                *(f"{tally.tried} / {len(tally.wrong)}" for tally in tallies),
            )
        )
    return Counted(tried, wrong, tuple(rows))


def many_processes(seconds: float, seed: int = 6) -> Counted:
    """Let eight processes do as they like for so long."""
    with tempfile.TemporaryDirectory() as scratch:
        crowd = Crowd(Path(scratch) / "crowd")
        said = crowded(crowd, 8, seed, seconds=seconds)
        wrong = crowd.wrong(said)
    done, errors = collections.Counter[str](), collections.Counter[str]()
    for one in said:
        done.update(one.done)
        errors.update(one.errors)
    rows = [
        ("operation or error", "times"),
        *((what, str(count)) for what, count in (*done.most_common(), *errors.most_common())),
    ]
    return Counted(
        done.total() + errors.total(),
        wrong,
        (*rows, ("edits made", str(sum(len(one.edits) for one in said)))),
    )


def merges() -> Counted:
    """Merge generated triples, and hold each result against that of `git merge-file`."""
    wrong = list[str]()
    for seed in range(SEEDS):
        maker = Triples(seed)
        triples = [maker.triple() for _ in range(EACH)]
        styles = [STYLES[at % len(STYLES)] for at in range(EACH)]
        with tempfile.TemporaryDirectory() as scratch:
            expected = merged_by_git(Path(scratch), triples, styles)
        for at, (triple, style) in enumerate(zip(triples, styles, strict=True)):
            way = {"favour": style} if style in {"ours", "theirs"} else {"style": style}
            if merge3(*triple, **way).data != expected[at]:  # type: ignore[arg-type]
                wrong.append(f"seed {seed}, triple {at}, {style}")
    return Counted(SEEDS * EACH, wrong)
