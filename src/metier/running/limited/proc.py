"""Calls a function in a thread of its own, and waits only so long. A thread cannot be ended: one that is late goes on alone."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class Outcome(NamedTuple):
    """What came of a call."""

    value: object = None
    error: BaseException | None = None
    late: bool = False
    """Whether it was not waited for any longer."""


def within(work: Callable[[], object], seconds: float) -> Outcome:
    """Call a function; give what it gave or raised, or that it is late. It does not keep the process from ending."""
    kept: list[Outcome] = []

    def call() -> None:
        try:
            kept.append(Outcome(work()))
        except BaseException as error:  # noqa: BLE001 - a stranger's code, in a thread that has nobody else to tell
            kept.append(Outcome(error=error))

    thread = threading.Thread(target=call, name="metier-limited", daemon=True)
    try:
        thread.start()
    except RuntimeError as error:  # the machine has no thread left
        return Outcome(error=error)
    thread.join(seconds)
    return kept[0] if kept else Outcome(late=True)
