"""A keyring for commands that tests start: a real backend of the `keyring` package that keeps values in the file RING_FILE names."""

from __future__ import annotations

import json
import os
from pathlib import Path

from keyring.backend import KeyringBackend


class FileRing(KeyringBackend):
    """Keeps values in a file, so that one command finds what another kept."""

    priority = 1

    def get_password(self, service: str, username: str) -> str | None:
        """Give what is held."""
        found = self._held().get(f"{service}/{username}")
        return found if isinstance(found, str) else None

    def set_password(self, service: str, username: str, password: str) -> None:
        """Hold a value."""
        self._keep({**self._held(), f"{service}/{username}": password})

    def delete_password(self, service: str, username: str) -> None:
        """Let a value go."""
        self._keep(
            {name: value for name, value in self._held().items() if name != f"{service}/{username}"}
        )

    def _held(self) -> dict[str, object]:
        return dict(json.loads(Path(os.environ["RING_FILE"]).read_text(encoding="utf-8")))

    def _keep(self, held: dict[str, object]) -> None:
        Path(os.environ["RING_FILE"]).write_text(json.dumps(held), encoding="utf-8")
