"""Python's garbage collector, kept out of bulk work."""

from __future__ import annotations

import gc
from _thread import RLock  # what `threading` would give, without loading it


class CollectorOff:
    """No garbage collection among tens of thousands of values that all live: it would find nothing, slowly.

    The first to enter turns it off and the last to leave turns it on again: there is one collector for all threads, and
    whoever looked for himself whether it was on could find it off and leave it so.
    """

    lock = RLock()
    inside = 0
    was_on = False

    def __enter__(self) -> None:
        """Turn it off, if it is on."""
        with CollectorOff.lock:
            if not CollectorOff.inside:
                CollectorOff.was_on = gc.isenabled()
                gc.disable()
            CollectorOff.inside += 1

    def __exit__(self, *_error: object) -> None:
        """Turn it on again, if it was."""
        with CollectorOff.lock:
            CollectorOff.inside = max(0, CollectorOff.inside - 1)  # whoever forked while inside was counted out before
            if not CollectorOff.inside and CollectorOff.was_on:
                gc.enable()

    @classmethod
    def renew(cls) -> None:
        """In a forked process, count nobody as inside: whoever was may have been another thread, which did not come along."""
        cls.lock = RLock()
        if cls.inside and cls.was_on:
            gc.enable()
        cls.inside = 0


def set_aside() -> None:
    """Collect once, and look no more at what is left: for a process that has loaded what it will keep."""
    gc.collect()
    gc.freeze()
