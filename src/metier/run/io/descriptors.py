"""The descriptors that one run holds: made through one object, closed by it, whatever happens."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from metier.errors import SandboxError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    T = TypeVar("T")


class Descriptors:
    """Every pipe, file in memory and folder that a run has open. Leaving the `with` block closes
    what is left.
    """

    def __init__(self) -> None:
        """Hold nothing yet."""
        self._open: set[int] = set()

    def __enter__(self) -> Descriptors:
        """Use it in a `with` block."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Close everything."""
        self.shut(*self._open)

    def pipe(self) -> tuple[int, int]:
        """Make a pipe: where to read, where to write. Reading never waits; who reads asks first
        whether there is something.
        """
        reader, writer = self.inlet()
        os.set_blocking(reader, False)
        return reader, writer

    def inlet(self) -> tuple[int, int]:
        """Make a pipe whose reading end is for another process, and waits."""
        reader, writer = _make(os.pipe)
        self._open |= {reader, writer}
        return reader, writer

    def lock(self) -> tuple[int, int]:
        """Make a pipe that lets a reader wait for a byte, and for nothing else.

        A common pipe also ends the waiting when its last writer is gone. This reading end counts as
        a writer itself, so that a process that waits at it goes on waiting when the one that should
        let it go has died.
        """
        reader, writer = self.inlet()
        both = self.keep(_make(lambda: os.open(f"/proc/self/fd/{reader}", os.O_RDWR)))
        self.shut(reader)
        return both, writer

    def text(self, data: bytes) -> int:
        """Make a file of bytes that lies nowhere, open at its beginning."""
        number = self.keep(_make(lambda: os.memfd_create("metier")))
        left = memoryview(data)
        while left:
            left = left[_make(lambda rest=left: os.write(number, rest)) :]  # type: ignore[misc]
        os.lseek(number, 0, os.SEEK_SET)
        return number

    def process(self, pid: int) -> int:
        """Hold on to a process: the descriptor can be read once it has ended. `ProcessLookupError`
        where it is gone already.
        """
        return self.keep(_make(lambda: os.pidfd_open(pid)))

    def place(self, path: str, *, real: bool = False) -> int:
        """Hold on to a file or folder as it is now: what later stands under its name is another
        one.

        With `real` there was no link in the path when it was decided on; one that is there now
        leads to something else.
        """
        try:
            number = self.keep(os.open(path, os.O_PATH | os.O_NOFOLLOW))
            link = stat.S_ISLNK(os.fstat(number).st_mode)
            found = os.readlink(f"/proc/self/fd/{number}")
        except OSError as error:
            raise SandboxError(
                f"{path} cannot be lent to the script: {error.strerror}", code="sandbox-mount"
            ) from error
        if link or (real and found != path):
            raise SandboxError(
                f"{path} is not what it was: it leads elsewhere now",
                code="sandbox-mount",
                hint="say it again",
            )
        return number

    def keep(self, number: int) -> int:
        """Close this one too at the end."""
        self._open.add(number)
        return number

    def give(self, number: int) -> int:
        """Leave one to somebody who closes it."""
        self._open.discard(number)
        return number

    def shut(self, *numbers: int) -> None:
        """Close some now; one that is closed already is left alone."""
        for number in numbers:
            if number in self._open:
                self._open.discard(number)
                os.close(number)


def _make(make: Callable[[], T]) -> T:
    """Make a descriptor; a machine that has none left, or no memory, runs nothing."""
    try:
        return make()
    except ProcessLookupError:
        raise
    except OSError as error:
        raise SandboxError(
            f"the run cannot be given its pipes and files: {error.strerror}", code="sandbox"
        ) from error
