"""One conversation of an agent: which skills it has read, what it was asked for, and the secrets it was given.

Nothing of it is written down. Whoever begins another conversation begins with an empty one (HE-20, CX-50).
"""

from __future__ import annotations


class Session:
    """What is true of one conversation, and ends with it."""

    def __init__(self, name: str, key: bytes = b"") -> None:
        """Begin with nothing."""
        self.name = name
        self.key = key
        """What makes the notes of this conversation's messages its own. A skill may learn the name, and never this."""
        self.loaded: dict[str, str] = {}
        """The digest under which each skill, by its path, was last given to the model."""
        self.asked: set[str] = set()
        """What was asked for once and is not asked for again: variables, and identities of MCP servers."""
        self.secrets: dict[str, str] = {}
        """Values given for this conversation alone."""

    def __repr__(self) -> str:
        """Name the conversation; a value must not get into a traceback."""
        return f"Session({self.name!r})"
