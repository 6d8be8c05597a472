"""Scripts that run while their callers may have left: none outlives the server, and what each came to is noted down first."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE = 20.0
"""How many seconds the end waits for scripts that were told to stop."""


class Underway:
    """The runs of one server."""

    def __init__(self) -> None:
        """Begin with none."""
        self._changed = threading.Condition()
        self._many = 0
        self._over = False

    @contextlib.contextmanager
    def one(self) -> Iterator[bool]:
        """Hold the end up for one run; tells whether it may begin at all."""
        with self._changed:
            may = not self._over
            self._many += may
        try:
            yield may
        finally:
            with self._changed:
                self._many -= may
                self._changed.notify_all()

    def is_over(self) -> bool:
        """Tell whether every run is to stop."""
        return self._over

    def begin(self) -> None:
        """Let runs begin; a server may serve again."""
        self._over = False

    def end(self) -> bool:
        """Have every run stop, and wait for them; tells whether all did."""
        with self._changed:
            self._over = True
            return self._changed.wait_for(lambda: not self._many, PATIENCE)
