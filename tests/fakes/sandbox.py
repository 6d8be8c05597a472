"""A sandbox that runs nothing: it remembers what it was asked to run, and answers what a test wants."""

from __future__ import annotations


class FakeSandbox:
    """Stands in for the `Sandbox` port."""

    def __init__(self, output: str = "", code: int = 0, error: Exception | None = None) -> None:
        """Answer every command alike, or fail alike."""
        self.output, self.code, self.error = output, code, error
        self.ran: list[tuple[str, str, int]] = []

    def inline(self, command: str, folder: str, seconds: int) -> tuple[int, str]:
        """Remember the command, its folder and its time."""
        self.ran.append((command, folder, seconds))
        if self.error is not None:
            raise self.error
        return self.code, self.output
