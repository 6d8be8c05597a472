"""A sandbox that runs nothing: it keeps every cage that it was given, and answers what a test wants. The real one needs bubblewrap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.run.model import Layer, RunEnded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metier.run.model import Cage

WELL = RunEnded(0)


def _never() -> bool:
    return False


class KeptSandbox:
    """Stands in for the `Sandbox` port."""

    def __init__(
        self,
        out: bytes = b"",
        err: bytes = b"",
        ended: RunEnded = WELL,
        error: BaseException | None = None,
        *,
        working: bool = True,
    ) -> None:
        """Answer every run alike: what it prints, how it ends, or how it fails; `working` is what `layers` says."""
        self.out, self.err, self.ended, self.error, self.working = out, err, ended, error, working
        self.cages: list[Cage] = []
        self.fed: list[bytes] = []
        """What each run was given on standard input, whole."""

    def layers(self) -> Sequence[Layer]:
        """Say that the one needed layer is there, or not."""
        return (
            Layer(
                "bubblewrap",
                self.working,
                "a fake of the tests",
                needed=True,
                hint="" if self.working else "Install it.",
            ),
        )

    def run(
        self,
        cage: Cage,
        hear: Callable[[str, bytes], None],
        feed: Callable[[int], bytes] | None = None,
        stopped: Callable[[], bool] = _never,
    ) -> RunEnded:
        """Keep the cage; print, end or fail as the test said, or end at once where the caller asks for it."""
        self.cages.append(cage)
        if self.error is not None:
            raise self.error
        self.fed.append(b"".join(iter(lambda: feed(65536), b"")) if feed is not None else b"")
        for stream, data in (("out", self.out), ("err", self.err)):
            if data:
                hear(stream, data)
        return self.ended._replace(code=137, stopped="asked") if stopped() else self.ended
