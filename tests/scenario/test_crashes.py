"""Every operation is broken off at every step on disk: killed, on a full disk, on a failing one. Nothing is lost, ever.

Each place is old or new as a whole afterwards, the lock agrees with the disk or `sync` sees to it, what a person wrote is in the
working copy or in a revision, nothing is left lying about, and the audit log holds. `bench/supply.py` makes the longer run.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fakes.breaking import OPERATIONS, Operation, run

if TYPE_CHECKING:
    pass

FEWEST = 30
"""An operation with fewer steps than this was not watched."""


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_an_operation_broken_off_at_any_step_loses_nothing(
    scratch: Path, operation: Operation
) -> None:
    found = run(scratch, operation.name, ["SIGKILL", "ENOSPC", "EIO"], "sync")

    assert [(), (), ()] == [tally.wrong for tally in found]
    assert min(tally.tried for tally in found) > FEWEST


@pytest.mark.parametrize("name", ["sync", "rollback"])
def test_saying_it_again_after_a_crash_does_it(scratch: Path, name: str) -> None:
    found = run(scratch, name, ["SIGKILL"], "again")

    assert [()] == [tally.wrong for tally in found]


@pytest.mark.parametrize("name", ["remove", "adopt"])
def test_a_recovery_may_be_killed_too(scratch: Path, name: str) -> None:
    found = run(scratch, name, ["SIGKILL"], "twice")

    assert [()] == [tally.wrong for tally in found]
