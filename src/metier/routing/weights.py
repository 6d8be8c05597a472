"""What the user wants to count beside the task, looked up once for each answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.route.weighing import Standing, weighed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metier.app import Library
    from metier.model import Card, Trust


class Weights:
    """The visible weights of a library, for one answer."""

    def __init__(self, library: Library) -> None:
        """Look at what all skills share."""
        self.library, self._stats = library, _stats(library)
        self._known: dict[str, dict[str, float]] = {}

    def shares(self, card: Card) -> dict[str, float]:
        """Give the share of each weight that is on."""
        found = self._known.get(card.path)
        if found is None:
            settings, went_well = self.library.settings, self._stats.get(card.name, (0, 0))[1] / 100
            found = weighed(card, settings.route, settings.precedence, Standing(_level(self.library, card), went_well))
            self._known[card.path] = found
        return found


def _stats(library: Library) -> Mapping[str, tuple[int, int]]:
    if not library.settings.route.usage:
        return {}
    from metier.counting import stats_of

    return stats_of(library)


def _level(library: Library, card: Card) -> Trust:
    """Give how far a skill is trusted, where that counts: it needs the verdict on each, and those are kept."""
    if not library.settings.route.trust:
        return "community"
    from metier.errors import MetierError
    from metier.vetting.cases import case_of

    try:
        return case_of(library, card).decision.level
    except (MetierError, OSError):  # gone since it was listed
        return "community"
