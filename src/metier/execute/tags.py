"""Tags in a model's words that ask for a skill: `[SKILL:name:query]`. Found and taken out, whatever a model wrote. Pure.

No tag reaches a user (CO-20): not one that failed, not one that never ends, not one inside another, and not one that only comes
about when another is taken out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_TAGS = 8
"""Tags of one text that are looked into; the rest are taken out all the same."""
MOST_NAME, MOST_QUERY = 100, 2_000
_LONGEST = 2 * (MOST_NAME + MOST_QUERY)
"""How far the end of a tag is looked for."""
_PASSES = 4
_BRACKETS = re.compile(r"[\[\]]")
_OPENING = re.compile(r"\[\s*SKILL\s*:", re.IGNORECASE)
_UNSEEN = dict.fromkeys([0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF])
"""What stands in a text unseen, and could keep a tag from being found."""


class Tag(NamedTuple):
    """One tag, and where it stood."""

    start: int
    end: int
    name: str
    query: str
    fault: str = ""
    """Why it is no call of a skill; nothing when it is one."""


class Found(NamedTuple):
    """A text in which every tag is known by its place."""

    text: str
    tags: tuple[Tag, ...]


def find(text: str) -> Found:
    """Find the tags of a text, the outermost of those that lie in each other; the places are those of the text that is given."""
    plain = text.translate(_UNSEEN) if _is_split(text) else text
    closings = _closings(plain) if _OPENING.search(plain) else {}
    tags: list[Tag] = []
    at = calls = 0
    while (opening := _OPENING.search(plain, at)) is not None:
        end, closed = _end(plain, opening.start(), closings)
        tags.append(_read(plain, opening.start(), opening.end(), end, closed=closed, room=calls < MOST_TAGS))
        calls += not tags[-1].fault
        at = end
    return Found(plain, tuple(tags))


def put(found: Found, answers: Sequence[str]) -> str:
    """Give the text with an answer in the place of each tag; what would be a tag again is taken out."""
    parts: list[str] = []
    at = 0
    for tag, answer in zip(found.tags, answers, strict=True):
        parts += (found.text[at : tag.start], answer)
        at = tag.end
    return without("".join((*parts, found.text[at:])))


def without(text: str) -> str:
    """Give a text without any tag; one that comes about again and again is at last made none by its bracket."""
    for _pass in range(_PASSES):
        found = find(text)
        if not found.tags:
            return text
        starts = (0, *(tag.end for tag in found.tags))
        ends = (*(tag.start for tag in found.tags), len(found.text))
        text = "".join(found.text[start:end] for start, end in zip(starts, ends, strict=True))
    return _OPENING.sub("(", text.translate(_UNSEEN))


def _is_split(text: str) -> bool:
    """Tell whether a tag shows only once what is unseen is gone."""
    return not text.isascii() and _OPENING.search(text.translate(_UNSEEN)) is not None


def _closings(text: str) -> dict[int, int]:
    """Give for each bracket where what it opens ends, in one pass: a text may open any number of tags and close none."""
    waiting: list[int] = []
    found: dict[int, int] = {}
    for bracket in _BRACKETS.finditer(text):
        if bracket[0] == "[":
            waiting.append(bracket.start())
        elif waiting:
            found[waiting.pop()] = bracket.end()
    return found


def _end(text: str, start: int, closings: dict[int, int]) -> tuple[int, bool]:
    """Give where a tag ends, brackets within it counted, and whether it does; one that does not ends with its line."""
    end = closings.get(start, start)
    if start < end <= start + _LONGEST:
        return end, True
    line = text.find("\n", start)
    return len(text) if line < 0 else line, False


def _read(text: str, start: int, after: int, end: int, *, closed: bool, room: bool) -> Tag:
    name, colon, query = text[after : end - 1 if closed else end].partition(":")
    name, query = name.strip(), query.strip()
    fault = ""
    if not closed:
        fault = "it has no end"
    elif _OPENING.search(text, after, end):
        fault = "there is another tag in it"
    elif not name or len(name) > MOST_NAME or not colon:
        fault = "it is not written as [SKILL:name:query]"
    elif len(query) > MOST_QUERY:
        fault = f"its query is longer than {MOST_QUERY:,} characters"
    elif not room:
        fault = f"there are more than {MOST_TAGS} tags"
    return Tag(start, end, name[:MOST_NAME], query[:MOST_QUERY], fault)
