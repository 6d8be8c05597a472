"""A keyring for tests: a real backend of the `keyring` package that keeps values in memory."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import keyring
from keyring.backend import KeyringBackend

if TYPE_CHECKING:
    from collections.abc import Iterator


class MemoryRing(KeyringBackend):
    """Keeps values as long as the test runs. `broken` makes every call fail, with the value in its message."""

    priority = 1

    def __init__(self) -> None:
        """Begin empty."""
        super().__init__()  # type: ignore[no-untyped-call]
        self.held: dict[tuple[str, str], str] = {}
        self.broken = False

    def get_password(self, service: str, username: str) -> str | None:
        """Give what is held."""
        self._may()
        return self.held.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        """Hold a value."""
        self._may(password)
        self.held[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        """Let a value go."""
        self._may()
        del self.held[service, username]

    def _may(self, password: str = "") -> None:
        if self.broken:
            raise OSError(f"the service is gone, and {password} with it")


@contextmanager
def used(ring: KeyringBackend) -> Iterator[KeyringBackend]:
    """Make a backend the one that everybody gets, and put the old one back."""
    before = keyring.get_keyring()
    keyring.set_keyring(ring)
    try:
        yield ring
    finally:
        keyring.set_keyring(before)
