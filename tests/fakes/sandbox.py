"""A sandbox that runs nothing: it remembers what it was asked to run, and answers what a test wants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.run.model import RunEnded

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.run.model import Cage, Layer


class FakeSandbox:
    """Stands in for the `Sandbox` port where one line of shell is run."""

    def __init__(self, output: str = "", code: int = 0, error: Exception | None = None) -> None:
        """Answer every command alike, or fail alike."""
        self.output, self.code, self.error = output, code, error
        self.ran: list[tuple[str, str, int]] = []
        """Each command, with the folder it saw as its skill and the seconds it had."""

    def layers(self) -> list[Layer]:
        """Lack nothing."""
        return []

    def run(
        self,
        cage: Cage,
        hear: Callable[[str, bytes], None],
        feed: object = None,  # noqa: ARG002
        stopped: object = None,  # noqa: ARG002
    ) -> RunEnded:
        """Remember the command, its folder and its time."""
        self.ran.append((cage.command[-1], cage.folder, cage.bounds.seconds))
        if self.error is not None:
            raise self.error
        hear("out", self.output.encode("utf-8", "surrogatepass"))
        return RunEnded(self.code)
