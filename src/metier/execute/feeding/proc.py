"""What a program gets on its standard input, from a thread of its own: who gives it may take its time."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from metier.errors import SandboxError

if TYPE_CHECKING:
    from collections.abc import Callable

CHUNK = 65_536
_PATIENCE = 1.0


class Feeder:
    """Carries bytes from whoever has them to a pipe, and closes that at the end."""

    def __init__(self, pipe: int, feed: Callable[[int], bytes], failed: Callable[[], None]) -> None:
        """Own the writing end of a pipe from now on. `failed` is called when `feed` raises; `error` then says what."""
        self.error: BaseException | None = None
        self._pipe, self._feed, self._failed = pipe, feed, failed
        self._mine = threading.Lock()
        try:
            threading.Thread(target=self._carry, name="metier-feeder", daemon=True).start()
        except RuntimeError as error:
            self._shut()
            raise SandboxError(f"the program cannot be given its input: {error}", code="sandbox") from error

    def close(self) -> None:
        """Close the pipe, which has no reader any more: a write that waits has ended, and the next finds it closed.

        The thread may still wait in `feed`, for a terminal, say. It is left there, and does nothing when it comes back. Where it
        waits in a write, because without a sandbox something has got away with the reading end, the pipe is left to it too.
        """
        if self._mine.acquire(timeout=_PATIENCE):
            self._shut()
            self._mine.release()

    def _carry(self) -> None:
        try:
            while data := self._feed(CHUNK):
                if not self._give(data):
                    return
        except BaseException as error:  # noqa: BLE001 - it is raised again, in the thread of whoever waits for the run
            self.error = error
            self._failed()
        finally:
            self.close()

    def _give(self, data: bytes) -> bool:
        """Write all of it, unless nobody reads any more."""
        left = memoryview(data)
        with self._mine:
            while left and self._pipe >= 0:
                try:
                    left = left[os.write(self._pipe, left) :]
                except BrokenPipeError:
                    self._shut()
            return self._pipe >= 0

    def _shut(self) -> None:
        pipe, self._pipe = self._pipe, -1
        if pipe >= 0:
            os.close(pipe)
