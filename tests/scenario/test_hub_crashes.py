"""A hub is killed between any two steps of what it does. What it acknowledged stays, no row is without
its bytes, the same request gives the same answer, and nothing is left lying about.

A few steps of each operation are tried here; `bench/hub_crashes.py` tries all of them.
"""

from __future__ import annotations

import shutil
import signal
from functools import partial
from pathlib import Path

import pytest
from fakes.asked_hub import Said
from fakes.breaking_hub import (
    ENV,
    NOW,
    OPERATIONS,
    HubOperation,
    Steps,
    furnish,
    left_in,
    open_stepped,
    wrong_with,
)
from fakes.hands import in_a_child

from metier.hub.hub import Hub, HubOptions
from metier.hub.io.database import format_of, open_database

SAMPLES = 7
"""How many steps of each operation are tried here."""
FEWEST = 5
"""An operation with fewer steps than this was not watched."""


def reopen(home: Path) -> Hub:
    return Hub(HubOptions(home=str(home)), clock=lambda: NOW, env=ENV)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_a_hub_killed_at_any_step_keeps_what_it_acknowledged(
    scratch: Path, operation: HubOperation
) -> None:
    template, home = scratch / "template", scratch / "hub"
    with reopen(template) as hub:
        token = furnish(hub)
    steps, expected = whole(template, home, operation, token)

    wrong = []
    for at in sampled(steps):
        wrong += [
            f"step {at} of {steps}: {why}"
            for why in killed(template, home, operation, token, at, expected)
        ]

    assert [] == wrong
    assert steps > FEWEST


def whole(template: Path, home: Path, operation: HubOperation, token: str) -> tuple[int, Said]:
    """Do it without being disturbed; give how many steps it has, and what is answered."""
    shutil.copytree(template, home)
    step = Steps()
    with open_stepped(HubOptions(home=str(home)), step) as hub:
        answer = operation.do(hub, token)
    return step.count, answer


def sampled(steps: int) -> list[int]:
    return sorted({1 + (steps - 1) * number // (SAMPLES - 1) for number in range(SAMPLES)})


def killed(
    template: Path, home: Path, operation: HubOperation, token: str, at: int, expected: object
) -> list[str]:
    """Kill it at a step, and say what is wrong afterwards."""
    shutil.rmtree(home)
    shutil.copytree(template, home)

    def task() -> None:
        operation.do(open_stepped(HubOptions(home=str(home)), Steps(at)), token)

    ended = in_a_child(task)
    wrong = [] if ended == -signal.SIGKILL else [f"the process ended with {ended}"]
    with reopen(home) as hub:
        wrong += wrong_with(hub)
        again = operation.do(hub, token)
        wrong += [] if again == expected else [f"answered {again!r}, not {expected!r}"]
        wrong += wrong_with(hub)
        wrong += [f"left behind: {key}" for key in left_in(hub)]
    return wrong


def test_a_migration_killed_at_any_step_is_done_at_the_next_start(scratch: Path) -> None:
    step = Steps()
    migrate_in_steps(scratch / "whole.db", step)

    ends = []
    for at in sampled(step.count):
        file = scratch / f"{at}.db"
        ended = in_a_child(partial(migrate_in_steps, file, Steps(at)))
        migrate_in_steps(file, Steps())
        database = open_database(str(file))
        with database.read() as connection:
            ends.append((ended, format_of(connection)))
        database.close()

    assert [(-signal.SIGKILL, ends[0][1])] * len(ends) == ends
    assert step.count > FEWEST


def migrate_in_steps(file: Path, step: Steps) -> None:
    from fakes.breaking_hub import SteppedDatabase

    from metier.hub.io.database import migrate

    database = SteppedDatabase(open_database(str(file)), step)
    migrate(database)
    database.close()
