"""A place for an index where there is none on disk: it lasts as long as the process. Pure."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from metier.route.engine import Embedded

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator


class Memory:
    """Files in a dictionary."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.files: dict[str, bytes] = {}
        self.written = b""
        self.count = 0

    def version(self) -> object:
        """Count what was ever written."""
        return self.count

    def manifest(self) -> bytes:
        """Give the manifest; nothing when there is none."""
        return self.written

    def load(self, name: str) -> bytes | None:
        """Give a file, or nothing."""
        return self.files.get(name)

    def keep(self, data: bytes) -> str:
        """Keep a file; give its name."""
        self.count += 1
        name = str(self.count)
        self.files[name] = data
        return name

    def switch(self, manifest: bytes) -> None:
        """Put a manifest in the place of the old one."""
        self.written = manifest
        self.count += 1

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Go on: nobody else sees what this process holds."""
        yield

    def rest(self) -> None:
        """Hold on: there is no other copy."""

    def drop(self, names: Iterable[str]) -> None:
        """Forget files."""
        for name in names:
            self.files.pop(name, None)

    def sweep(self, kept: Collection[str]) -> None:
        """Find nothing: what is not dropped is needed."""


def memory_engine() -> Embedded:
    """Give an engine that keeps its index in memory."""
    return Embedded(Memory())
