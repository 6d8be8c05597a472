"""Loads a code skill into this process and calls it within a time limit, by the same words as
inside the sandbox.

Its module is in no table of modules: nobody can import it, and it is gone when the last who holds
it lets go. A time limit ends the waiting and not the work: a thread cannot be ended, so a skill
that never returns keeps its thread until the process ends. What it prints is kept from this
process's own output, where a protocol may be spoken.

`inside_program` reads the program that runs inside the sandbox, to hand it in as bytes.
"""

from __future__ import annotations

import io
import pkgutil
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.errors import SandboxError
from metier.run.io import inside_sandbox

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.model import JsonObject


def inside_program() -> bytes:
    """Give the source of the program inside."""
    found = pkgutil.get_data("metier.run.io", "inside_sandbox.py")
    if found is None:
        raise SandboxError(
            "metier's own program for code skills is missing",
            hint="install metier anew",
            code="sandbox-program",
        )
    return found


class CallOutcome(NamedTuple):
    """What came of a call."""

    value: object = None
    error: BaseException | None = None
    late: bool = False
    """Whether it was not waited for any longer."""


def call_within(work: Callable[[], object], seconds: float) -> CallOutcome:
    """Call a function; give what it gave or raised, or that it is late. It does not keep the
    process from ending.
    """
    kept: list[CallOutcome] = []

    def call() -> None:
        try:
            kept.append(CallOutcome(work()))
        except BaseException as error:  # noqa: BLE001 - a stranger's code, in a thread that has nobody else to tell
            kept.append(CallOutcome(error=error))

    thread = threading.Thread(target=call, name="metier-limited", daemon=True)
    try:
        thread.start()
    except RuntimeError as error:  # the machine has no thread left
        return CallOutcome(error=error)
    thread.join(seconds)
    return kept[0] if kept else CallOutcome(late=True)


MAX_PRINTED_CHARS = 64 * 1024
"""Characters that are kept of what a skill prints in one call."""


class LoadedCode:
    """One code skill as a module, made when it is first called; one that could not be loaded is
    tried again the next time.
    """

    def __init__(self, data: bytes, path: str) -> None:
        """Keep the bytes that were gated; nothing is compiled yet."""
        self._data = data
        self._path = path
        self._run: Any = None
        self._alone = threading.Lock()
        self._heard = threading.local()

    def call(self, task: str, context: str, seconds: float) -> tuple[JsonObject, str] | None:
        """Call it; give its answer and what it printed, or nothing when it is late."""
        printed: list[str] = []

        def work() -> JsonObject:
            self._heard.printed, self._heard.room = printed, MAX_PRINTED_CHARS
            return inside_sandbox.answer_of(self._ready, task, context)

        outcome = call_within(work, seconds)
        if outcome.late:
            return None
        answer = outcome.value
        if not isinstance(answer, dict):
            answer = inside_sandbox.failure(outcome.error or RuntimeError("it gave no answer"))
        return answer, "".join(printed)

    def _ready(self) -> Callable[..., object]:
        with self._alone:  # two calls at once must not make two modules
            if self._run is None:
                self._run = inside_sandbox.load(
                    self._data, self._path, known=False, given={"print": self._print}
                )
            run: Callable[..., object] = self._run
            return run

    def _print(self, *values: object, file: Any = None, **layout: Any) -> None:
        """Stand in for `print`: what a skill says belongs to its own call; a thread of its own
        making has no call.
        """
        heard = io.StringIO()
        print(*values, file=heard if file is None else file, **layout)
        printed: list[str] = getattr(self._heard, "printed", [])
        room = getattr(self._heard, "room", 0)
        if file is None and room > 0:
            text = heard.getvalue()
            printed.append(text[:room])
            self._heard.room = room - len(text)
