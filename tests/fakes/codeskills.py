"""A library of code skills, a sandbox that answers as the program inside does, and hooks: for whoever calls skills in a test."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from conformance.folders import Place, write
from fakes.cage import KeptSandbox

from metier.run.io import inside_sandbox
from metier.run.model import CodeCall, RunEnded, Veto

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from metier.library import Library
    from metier.run.model import Cage

RUN = "def run(task):\n    return 'done: ' + task\n"


def report(result: str | None = "42", *, error: str = "", loaded: bool = True) -> bytes:
    """Give what the program inside hands back."""
    answer = {
        "ok": not error,
        "result": result,
        "error": error,
        "declined": result is None and not error,
        "loaded": loaded,
    }
    return json.dumps(answer).encode()


def answering(result: str | None = "42", *, error: str = "", loaded: bool = True) -> KeptSandbox:
    """Give a sandbox in which every skill gives the same."""
    return KeptSandbox(
        ended=RunEnded(
            1 if error else 0, report=report(result, error=error, loaded=loaded), seconds=0.5
        )
    )


class Calling(KeptSandbox):
    """A sandbox that is none: it calls the very bytes that it was given, in this process. For skills that a test wrote."""

    def run(
        self,
        cage: Cage,
        hear: Callable[[str, bytes], None],
        feed: Callable[[int], bytes] | None = None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> RunEnded:
        """Call the skill in the cage."""
        super().run(cage, hear, feed, stopped)
        files = {one.target: one.data for one in cage.files}
        source, call = cage.command[-2:]
        asked = json.loads(files[call])
        answer = inside_sandbox.answer_of(
            lambda: inside_sandbox.load(files[source], source, known=False),
            asked["task"],
            asked["context"],
        )
        return RunEnded(0 if answer["ok"] else 1, report=json.dumps(answer).encode())


class Hook:
    """A hook that does as a test says, and keeps what it was shown."""

    def __init__(
        self,
        name: str = "p",
        before: Callable[[CodeCall], object] | None = None,
        after: Callable[[str], object] | None = None,
    ) -> None:
        """Leave calls and results as they are, unless told otherwise."""
        self.name, self._before, self._after = name, before, after
        self.calls: list[CodeCall] = []
        self.results: list[str] = []

    def before(self, call: CodeCall) -> CodeCall | Veto | None:
        """Keep the call, and answer."""
        self.calls.append(call)
        return self._before(call) if self._before is not None else call  # type: ignore[return-value]

    def after(self, call: CodeCall, result: str) -> str:  # noqa: ARG002 - the port's
        """Keep the result, and answer."""
        self.results.append(result)
        return self._after(result) if self._after is not None else result  # type: ignore[return-value]


def library_of(
    base: Path,
    files: dict[str, str],
    config: str = "",
    *,
    box: KeptSandbox | None = None,
    level: str = "trusted",
) -> Library:
    """Give a library with these files as skills of the user's own, whom it trusts so far."""
    base.mkdir(exist_ok=True)
    place = Place(base)
    place.configure(f'trust.local_default = "{level}"\n{config}')
    for name, text in files.items():
        write(place.home / ".agents/skills" / name, text)
    library = place.scopes()
    library.context.sandbox = box if box is not None else Calling()
    return library
