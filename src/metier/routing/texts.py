"""A skill's own file → the text that it is found by. What vanished or cannot be read is left out: a listing says so already."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.disclose import levels
from metier.discover import disk
from metier.model import NO_KEY
from metier.route.triggers import declared
from metier.skillfile import folder_name
from metier.standard.document import read_document
from metier.wanted import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from metier.model import Card, Head, Key
    from metier.pipeline import Glance

MOST_BYTES = 1 << 20
"""Of a file: whatever stands beyond the first megabyte, a skill is known by what stands before."""
EDITION = b"1"
"""Begins every stamp: when skills are read in another way, all of them are read again."""
FRESH = b"?"
"""Begins the stamp of a file that changed so lately that another change could hide behind the same stats: it matches nothing."""
MOST_TAGS = 100
_FILES = ("/SKILL.md", "/skill.md", "/Skill.md")


class Place(NamedTuple):
    """Where a skill is read, and what tells that it is still the one that was read."""

    card: Card
    file: str
    stamp: bytes


def places(glanced: Glance, cards: Iterable[Card]) -> dict[str, Place]:
    """Give each skill its file and stamp, by the stats that the listing has taken anyway."""
    keys: dict[str, Key] = {}
    for one in glanced.seen:
        keys.update(one.keys())
    return {card.path: _place(card, keys) for card in cards}


def _place(card: Card, keys: Mapping[str, Key]) -> Place:
    if card.kind != "skill-md":
        return Place(card, card.path, stamp_of(card, keys.get(card.path, NO_KEY)))
    for file in _FILES:
        key = keys.get(card.path + file)
        if key is not None:
            return Place(card, card.path + file, stamp_of(card, key))
    return Place(card, card.path + _FILES[0], stamp_of(card, NO_KEY))


def stamp_of(card: Card, key: Key) -> bytes:
    """Give a stamp: the stats of the file, and the plugin's name, which is part of the skill's and stands in another file."""
    return EDITION + key + card.plugin.encode("utf-8", "surrogatepass")


def read(found: Iterable[Place], now_ns: int) -> Iterator[Text]:
    """Read skills one after the other; those that cannot be read are left out."""
    for place in found:
        text = text_of(place, now_ns)
        if text is not None:
            yield text


def text_of(place: Place, now_ns: int) -> Text | None:
    """Read one skill; its stamp is that of the file that was read, which may be newer than the listing."""
    head = disk.read_head(place.file, MOST_BYTES)
    if head.fault:
        return None
    card, data = place.card, head.data[:MOST_BYTES]
    stamp = stamp_of(card, head.key)
    stamp = FRESH + stamp if _is_fresh(head, now_ns) else stamp
    if card.kind == "code":
        from metier.standard.code import read_code  # most libraries hold no code skill

        phrases = declared({}, read_code(data, folder_name(card)))
        return Text(card.path, stamp, card.name, card.description, (), phrases, data.decode(errors="replace"))
    file = place.file.rpartition("/")[2]
    document = read_document(data, folder=folder_name(card), file=file, kind=card.kind, size=len(data))
    if document is None:
        return Text(card.path, stamp, card.name, card.description, (), (), data.decode(errors="replace"))
    fields, body = document.fields, data[document.body_at :].decode(errors="replace")
    tags = tuple(levels.words(fields, "tags")[:MOST_TAGS])
    return Text(card.path, stamp, card.name, card.description, tags, declared(fields), body)


def _is_fresh(head: Head, now_ns: int) -> bool:
    numbers = memoryview(head.key).cast("q")
    return max(numbers[1], numbers[2]) > now_ns - disk.SETTLED_NS
