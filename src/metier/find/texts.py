"""Reads the text that a skill is found by from its own file, and keeps the latest of those that
were taken apart.

What vanished or cannot be read is left out: a listing says so already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.discover.io import disk
from metier.discover.skill_files import folder_name
from metier.find.model import CachedDoc, SkillText, search_state
from metier.find.passages import MAX_BODY_CHARS, doc
from metier.find.triggers import declared
from metier.model import NO_KEY
from metier.standard import skill_paths
from metier.standard.document import read_document
from metier.standard.frontmatter import split

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from metier.context import Context
    from metier.find.model import CurrentIndex, SearchState
    from metier.find.passages import Doc
    from metier.model import Card, Head, Key, Texts
    from metier.pipeline import Look


MAX_READ_BYTES = 1 << 20
"""Of a file: whatever stands beyond the first megabyte, a skill is known by what stands before."""
STAMP_EDITION = b"1"
"""Begins every stamp: when skills are read in another way, all of them are read again."""
FRESH_STAMP = b"?"
"""Begins the stamp of a file that changed so lately that another change could hide behind the same
stats: it matches nothing."""
HEAD_BYTES = 1 << 17
"""Of a file of which only the beginning of the body is wanted: enough unless there is very much
before it."""
CHARACTER_BYTES = 4
"""Of a character at the most."""
MAX_TAGS = 100
_FILES = ("/SKILL.md", "/skill.md", "/Skill.md")


def stamped(glanced: Look, cards: Iterable[Card]) -> Iterator[tuple[Card, bytes]]:
    """Give each skill with its stamp, by the stats that the listing has taken anyway."""
    keys: dict[str, Key] = {}
    for one in glanced.seen:
        keys.update(one.keys())
    for card in cards:
        key = next((keys[file] for file in files_of(card) if file in keys), NO_KEY)
        yield card, stamp_of(card, key)


def files_of(card: Card) -> Texts:
    """Give the files that a skill may be read from; the first that is there is the one."""
    return tuple(card.path + file for file in _FILES) if card.kind == "skill-md" else (card.path,)


def stamp_of(card: Card, key: Key) -> bytes:
    """Give a stamp: the stats of the file, and the plugin's name, which is part of the skill's and
    stands in another file.
    """
    return STAMP_EDITION + key + card.plugin.encode("utf-8", "surrogatepass")


def read_texts(cards: Iterable[Card], now_ns: int) -> Iterator[SkillText]:
    """Read skills one after the other; those that cannot be read are left out."""
    found = (text_of(card, now_ns) for card in cards)
    return (text for text in found if text is not None)


def text_of(card: Card, now_ns: int) -> SkillText | None:
    """Read one skill; its stamp is that of the file that was read, which may be newer than the
    listing.
    """
    for file in files_of(card):
        head = disk.read_head(file, MAX_READ_BYTES)
        if not head.fault:
            return _text_from_head(card, file.rpartition("/")[2], head, now_ns)
    return None


def _text_from_head(card: Card, file: str, head: Head, now_ns: int) -> SkillText:
    data = head.data[:MAX_READ_BYTES]
    stamp = stamp_of(card, head.key)
    tags = list[str]()
    phrases = tuple[str, ...]()
    body_at = 0
    if card.kind == "code":
        from metier.standard.code import read_code  # most libraries hold no code skill

        phrases = declared({}, read_code(data, folder_name(card)))
    else:
        document = read_document(
            data, folder=folder_name(card), file=file, kind=card.kind, size=len(data)
        )
        if document is not None:
            tags = skill_paths.listed_words(document.fields, "tags")[:MAX_TAGS]
            phrases = declared(document.fields)
            body_at = document.body_at
    return SkillText(
        path=card.path,
        stamp=FRESH_STAMP + stamp if _is_fresh(head, now_ns) else stamp,
        name=card.name,
        description=card.description,
        tags=tuple(tags),
        triggers=phrases,
        body=data[body_at:].decode(errors="replace"),
    )


def is_still(card: Card, stamp: bytes) -> bool:
    """Tell by the stats of its file whether a skill is the one that was read under a stamp."""
    keys = (disk.key_of(file) for file in files_of(card))
    return next((stamp_of(card, key) == stamp for key in keys if key is not None), False)


def opening_of(card: Card, most: int) -> tuple[bytes, str] | None:
    """Read the beginning of a skill's body, with the stamp of its file; of a long one more than
    `most` characters are given.
    """
    for file in files_of(card):
        head = disk.read_head(file, HEAD_BYTES)
        if head.fault:
            continue
        at = _body_at(card, head)
        if len(head.data) < head.size and len(head.data) - at <= CHARACTER_BYTES * most:
            head = disk.read_head(file, MAX_READ_BYTES)  # its frontmatter takes up nearly all
            at = _body_at(card, head)
        return stamp_of(card, head.key), head.data[at : at + CHARACTER_BYTES * (most + 1)].decode(
            errors="replace"
        )
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


_WORD_BYTES = 8
_PASSAGE_BYTES = 200
_DOC_BYTES = 800
"""Of a word, which many skills share; of what is kept of a passage besides; and of a skill."""


def docs_of(context: Context, now: CurrentIndex, paths: Iterable[str]) -> dict[str, Doc]:
    """Give skills as they are on the disk; what cannot be read any more is left out."""
    state = search_state(context)
    found: dict[str, CachedDoc] = {}
    for path in paths:
        card = now.cards[path]
        kept = _known(now, card, state.docs.get(path)) or _take_apart(now, card)
        if kept is not None:
            found[path] = kept
    with context.lock:
        _keep(state, found, context.search_cache_bytes)
    return {path: kept.doc for path, kept in found.items()}


def _known(now: CurrentIndex, card: Card, kept: CachedDoc | None) -> CachedDoc | None:
    """Give what is kept of a skill, if it is still so; within one listing that is looked at
    once.
    """
    if kept is None or kept.seen == now.glanced.token:
        return kept
    return kept._replace(seen=now.glanced.token) if is_still(card, kept.stamp) else None


def _take_apart(now: CurrentIndex, card: Card) -> CachedDoc | None:
    opening = opening_of(card, MAX_BODY_CHARS)
    if opening is None:
        return None
    stamp, body = opening
    made = doc(card.name, card.description, body)
    words = len(made.card) + sum(len(passage.words) for passage in made.passages)
    size = _DOC_BYTES + _PASSAGE_BYTES * len(made.passages) + _WORD_BYTES * words
    return CachedDoc(stamp, made, now.glanced.token, size)


def _keep(state: SearchState, found: dict[str, CachedDoc], room: int) -> None:
    for path, kept in found.items():
        before = state.docs.pop(path, None)
        state.docs[path] = kept
        state.docs_bytes += kept.size - (before.size if before else 0)
    while state.docs_bytes > room:
        _path, kept = state.docs.popitem(last=False)
        state.docs_bytes -= kept.size
