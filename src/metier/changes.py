"""What differs between two looks at the library."""

from __future__ import annotations

from metier.light import TYPE_CHECKING
from metier.model import Change

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metier.pipeline import Catalogue, Glance

    Stamps = Mapping[str, tuple[object, ...]]

_FILES = ("", "/SKILL.md", "/skill.md", "/Skill.md", "/agents/openai.yaml")


def stamps(glanced: Glance, found: Catalogue) -> Stamps:
    """Give each skill its card and the stats of all that its listing depends on."""
    keys: dict[str, bytes] = {}
    for one in glanced.seen:
        keys.update(one.keys())
    return {card.path: (card, *(keys.get(card.path + file) for file in _FILES)) for card in found.cards}


def between(old: Stamps, new: Stamps) -> Change:
    """Say which skills came, went, or are not as they were."""
    return Change(
        tuple(sorted(new.keys() - old.keys())),
        tuple(sorted(path for path in new.keys() & old.keys() if new[path] != old[path])),
        tuple(sorted(old.keys() - new.keys())),
        sum(1 for path, stamp in new.items() if old.get(path) == stamp),
    )
