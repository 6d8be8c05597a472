"""Values that end with a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import MutableMapping


class SessionStore:
    """Keeps values in the memory of a session, and nowhere else (CX-50)."""

    kind = "session"

    def __init__(self, secrets: MutableMapping[str, str]) -> None:
        """Keep them in the session's own map."""
        self._secrets = secrets

    def get(self, name: str) -> str | None:
        """Give a value, or nothing."""
        return self._secrets.get(name)

    def put(self, name: str, value: str) -> None:
        """Keep a value under a name."""
        self._secrets[name] = value

    def drop(self, name: str) -> bool:
        """Forget a value; tell whether there was one."""
        return self._secrets.pop(name, None) is not None

    def names(self) -> list[str]:
        """List the names that have a value here."""
        return list(self._secrets)

    def __repr__(self) -> str:
        """Count; a value must not get into a traceback."""
        return f"SessionStore({len(self._secrets)} names)"
