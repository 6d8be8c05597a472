"""Python's garbage collector, kept out of bulk work."""

from __future__ import annotations

import gc


class CollectorOff:
    """No garbage collection among tens of thousands of values that all live: it would find nothing, slowly."""

    def __enter__(self) -> None:
        """Turn it off, if it is on."""
        self.was_on = gc.isenabled()
        gc.disable()

    def __exit__(self, *_error: object) -> None:
        """Turn it on again, if it was."""
        if self.was_on:
            gc.enable()
