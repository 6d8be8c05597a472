"""Being asked to end: SIGTERM and SIGHUP become an exception, so that whoever has something to tidy up gets to do it."""

from __future__ import annotations

import signal
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_AGAIN = 2.0
"""A terminal that closes may ask twice at once, which is one request; who asks again after so many seconds is waiting."""


@contextmanager
def tidily() -> Iterator[None]:
    """End the program with 128 and the signal's number, from wherever it is. What is ignored, or a host's own, stays as it is."""
    last = 0.0

    def leave(number: int, _frame: object) -> None:
        nonlocal last
        before, last = last, time.monotonic()
        if not before or last - before >= _AGAIN:
            raise SystemExit(128 + number)

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    try:
        saved = {number: signal.signal(number, leave) for number in numbers if signal.getsignal(number) is signal.SIG_DFL}
    except ValueError:  # not the main thread: signals are somebody else's business
        saved = {}
    try:
        yield
    finally:
        for number, handler in saved.items():
            signal.signal(number, handler)
