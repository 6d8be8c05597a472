"""A runner that runs nothing: it keeps what it was given, for a test to look at. The real one needs a sandbox."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from metier.model import Card


class KeptRunner:
    """Stands in for the stage that runs scripts."""

    def __init__(self) -> None:
        """Begin with nothing run."""
        self.ran: list[tuple[str, str, tuple[str, ...], dict[str, str]]] = []

    def run(
        self, card: Card, script: str, arguments: Sequence[str], environment: Mapping[str, str]
    ) -> tuple[int, str]:
        """Keep what would be run, and say that it went well."""
        self.ran.append((card.name, script, tuple(arguments), dict(environment)))
        return 0, "done\n"
