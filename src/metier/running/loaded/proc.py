"""Loads a code skill into this process and calls it, by the same words as inside the sandbox.

Its module is in no table of modules: nobody can import it, and it is gone when the last who holds it lets go. A time limit ends
the waiting and not the work: a thread cannot be ended, so a skill that never returns keeps its thread until the process ends.
What it prints is kept from this process's own output, where a protocol may be spoken.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from metier.execute.inside import proc as inside
from metier.running.limited import proc

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_PRINTED = 64 * 1024
"""Characters that are kept of what a skill prints in one call."""


class Loaded:
    """One code skill as a module, made when it is first called; one that could not be loaded is tried again the next time."""

    def __init__(self, data: bytes, path: str) -> None:
        """Keep the bytes that were gated; nothing is compiled yet."""
        self._data, self._path = data, path
        self._run: Any = None
        self._alone = threading.Lock()
        self._heard = threading.local()

    def call(self, task: str, context: str, seconds: float) -> tuple[dict[str, Any], str] | None:
        """Call it; give its answer and what it printed, or nothing when it is late."""
        printed: list[str] = []

        def work() -> dict[str, Any]:
            self._heard.printed, self._heard.room = printed, MOST_PRINTED
            return inside.answer_of(self._ready, task, context)

        outcome = proc.within(work, seconds)
        if outcome.late:
            return None
        answer = outcome.value
        if not isinstance(answer, dict):
            answer = inside.failure(outcome.error or RuntimeError("it gave no answer"))
        return answer, "".join(printed)

    def _ready(self) -> Callable[..., object]:
        with self._alone:  # two calls at once must not make two modules
            if self._run is None:
                self._run = inside.loaded(self._data, self._path, known=False, given={"print": self._print})
            run: Callable[..., object] = self._run
            return run

    def _print(self, *values: object, sep: str | None = " ", end: str | None = "\n", file: Any = None, flush: bool = False) -> None:
        """Stand in for `print`: what a skill says belongs to its own call; a thread of its own making has no call."""
        if file is not None:
            print(*values, sep=sep, end=end, file=file, flush=flush)
            return
        printed: list[str] = getattr(self._heard, "printed", [])
        room = getattr(self._heard, "room", 0)
        if room > 0:
            text = (" " if sep is None else sep).join(map(str, values)) + ("\n" if end is None else end)
            printed.append(text[:room])
            self._heard.room = room - len(text)
