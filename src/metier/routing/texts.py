"""A skill's own file → the text that it is found by. What vanished or cannot be read is left out: a listing says so already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.disclose import levels
from metier.discover import disk
from metier.model import NO_KEY
from metier.route.triggers import declared
from metier.skillfile import folder_name
from metier.standard.document import read_document
from metier.standard.frontmatter import split
from metier.wanted import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from metier.model import Card, Head, Key
    from metier.pipeline import Glance

MOST_BYTES = 1 << 20
"""Of a file: whatever stands beyond the first megabyte, a skill is known by what stands before."""
EDITION = b"1"
"""Begins every stamp: when skills are read in another way, all of them are read again."""
FRESH = b"?"
"""Begins the stamp of a file that changed so lately that another change could hide behind the same stats: it matches nothing."""
HEAD_BYTES = 1 << 17
"""Of a file of which only the beginning of the body is wanted: enough unless there is very much before it."""
CHARACTER_BYTES = 4
"""Of a character at the most."""
MOST_TAGS = 100
_FILES = ("/SKILL.md", "/skill.md", "/Skill.md")


def stamped(glanced: Glance, cards: Iterable[Card]) -> Iterator[tuple[Card, bytes]]:
    """Give each skill with its stamp, by the stats that the listing has taken anyway."""
    keys: dict[str, Key] = {}
    for one in glanced.seen:
        keys.update(one.keys())
    for card in cards:
        yield card, stamp_of(card, next((keys[file] for file in files_of(card) if file in keys), NO_KEY))


def files_of(card: Card) -> tuple[str, ...]:
    """Give the files that a skill may be read from; the first that is there is the one."""
    return tuple(card.path + file for file in _FILES) if card.kind == "skill-md" else (card.path,)


def stamp_of(card: Card, key: Key) -> bytes:
    """Give a stamp: the stats of the file, and the plugin's name, which is part of the skill's and stands in another file."""
    return EDITION + key + card.plugin.encode("utf-8", "surrogatepass")


def read(cards: Iterable[Card], now_ns: int) -> Iterator[Text]:
    """Read skills one after the other; those that cannot be read are left out."""
    for card in cards:
        text = text_of(card, now_ns)
        if text is not None:
            yield text


def text_of(card: Card, now_ns: int) -> Text | None:
    """Read one skill; its stamp is that of the file that was read, which may be newer than the listing."""
    for file in files_of(card):
        head = disk.read_head(file, MOST_BYTES)
        if not head.fault:
            return _told(card, file.rpartition("/")[2], head, now_ns)
    return None


def _told(card: Card, file: str, head: Head, now_ns: int) -> Text:
    data = head.data[:MOST_BYTES]
    stamp = stamp_of(card, head.key)
    stamp = FRESH + stamp if _is_fresh(head, now_ns) else stamp
    if card.kind == "code":
        from metier.standard.code import read_code  # most libraries hold no code skill

        phrases = declared({}, read_code(data, folder_name(card)))
        return Text(card.path, stamp, card.name, card.description, (), phrases, data.decode(errors="replace"))
    document = read_document(data, folder=folder_name(card), file=file, kind=card.kind, size=len(data))
    if document is None:
        return Text(card.path, stamp, card.name, card.description, (), (), data.decode(errors="replace"))
    fields, body = document.fields, data[document.body_at :].decode(errors="replace")
    tags = tuple(levels.words(fields, "tags")[:MOST_TAGS])
    return Text(card.path, stamp, card.name, card.description, tags, declared(fields), body)


def is_still(card: Card, stamp: bytes) -> bool:
    """Tell by the stats of its file whether a skill is the one that was read under a stamp."""
    keys = (disk.key_of(file) for file in files_of(card))
    return next((stamp_of(card, key) == stamp for key in keys if key is not None), False)


def opening_of(card: Card, most: int) -> tuple[bytes, str] | None:
    """Read the beginning of a skill's body, with the stamp of its file; of a long one more than `most` characters are given."""
    for file in files_of(card):
        head = disk.read_head(file, HEAD_BYTES)
        if head.fault:
            continue
        at = _body_at(card, head)
        if len(head.data) < head.size and len(head.data) - at <= CHARACTER_BYTES * most:
            head = disk.read_head(file, MOST_BYTES)  # its frontmatter takes up nearly all
            at = _body_at(card, head)
        return stamp_of(card, head.key), head.data[at : at + CHARACTER_BYTES * (most + 1)].decode(errors="replace")
    return None


def _body_at(card: Card, head: Head) -> int:
    """Tell where the body begins; behind all that was read when it begins further on."""
    if card.kind == "code":
        return 0
    found = split(head.data, complete=len(head.data) >= head.size)
    return found.body_at if found.outcome != "more" else len(head.data)


def _is_fresh(head: Head, now_ns: int) -> bool:
    numbers = memoryview(head.key).cast("q")
    return max(numbers[1], numbers[2]) > now_ns - disk.SETTLED_NS
