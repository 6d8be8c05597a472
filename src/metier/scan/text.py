"""Text as a reader understands it, with the way back to where each character stood: what rules match, whatever hides it."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import combining, normalize

from metier.scan.lookalike import ALWAYS, latinised
from metier.scan.unseen import DROPPED, ODD, Hidden, hidden, odd

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Hidden", "Lines", "Text", "edited", "hidden", "normalise"]

Edit = tuple[int, int, str]
"""Characters from here to there become this."""
Steps = tuple["array[int]", "array[int]"]
"""From these places on, the original is this much further on."""

EXPANSION = 4  # characters that one may stand for; the few that are whole sentences stay as they are
MARKS = 30  # more accents than this on one letter are dropped: Unicode's stream-safe limit; sorting them is quadratic

_ALWAYS = str.maketrans(ALWAYS)
_DROPPED = re.compile(f"\r|[{DROPPED}]+|[{''.join(ALWAYS)}]")
_FOREIGN = re.compile(r"[^\x00-\x7f]+")
# Letters that join the letter before them although Unicode gives them no combining class.
_SECONDS = frozenset(
    "\u09be\u09d7\u0b3e\u0b56\u0b57\u0bbe\u0bd7\u0cc2\u0cd5\u0cd6\u0d3e\u0d57\u0dcf\u0ddf\u102e\u1b35\U00011127\U0001133e\U00011357"
    "\U000114b0\U000114ba\U000114bd\U000115af\U00011930"
) | {chr(code) for jamo in (range(0x1161, 0x1176), range(0x11A8, 0x11C3)) for code in jamo}
_LINE_END = re.compile(r"\r\n?|\n")


class Text(NamedTuple):
    """Normalised text, and how to get from a place in it to the place in the original."""

    plain: str
    steps: tuple[Steps, ...] = ()

    def origin(self, at: int) -> int:
        """Give the offset in the original of the character at this offset of the plain text."""
        for places, shifts in reversed(self.steps):
            at += shifts[bisect_right(places, at) - 1]
        return at

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Give the stretch of the original that a match in the plain text covers, without what is hidden behind its end."""
        first = self.origin(start)
        return first, max(first, self.origin(end - 1) + 1) if end > start else first


def normalise(original: str) -> Text:
    """Give the text that a reader sees: compatibility forms and lookalikes resolved, the invisible removed."""
    rest = odd(original)
    if not rest:
        return Text(original)
    text = Text(original)
    if _DROPPED.search(rest):
        text = edited(text, _invisible(original))
        rest = odd(text.plain)
    letters = set(rest)
    accents = [letter for letter in letters if _joins(letter)]
    if accents:
        text = edited(text, _piles(text.plain, accents))
    if accents or any(normalize("NFKC", letter) != letter for letter in letters):
        text = edited(text, _compatible(text.plain))
    return Text(latinised(text.plain), text.steps)


class Lines:
    """Where lines begin, so that an offset can be told as line and column, both counted from 1."""

    def __init__(self, original: str) -> None:
        """Remember the text; it is looked through only when the first place is asked for."""
        self._original = original
        self._starts: list[int] | None = None

    def place(self, at: int) -> tuple[int, int]:
        """Give line and column of an offset."""
        if self._starts is None:
            self._starts = [0, *(found.end() for found in _LINE_END.finditer(self._original))]
        line = bisect_right(self._starts, at)
        return line, at - self._starts[line - 1] + 1


def edited(text: Text, edits: Iterable[Edit]) -> Text:
    """Apply edits that are in order and do not overlap; places are noted only where the distance changes."""
    parts: list[str] = []
    plain, done, length = text.plain, 0, 0
    places, shifts = array("q", [0]), array("q", [0])
    for start, end, new in edits:
        parts += plain[done:start], new
        length += start - done
        if len(new) > 1:  # every character of an expansion comes from the one place
            places.extend(range(length, length + len(new)))
            shifts.extend(range(start - length, start - length - len(new), -1))
        length += len(new)
        done = end
        if shifts[-1] != end - length:
            places.append(length)
            shifts.append(end - length)
    if not parts:
        return text
    parts.append(plain[done:])
    return Text("".join(parts), (*text.steps, (places, shifts)))


def _invisible(original: str) -> Iterator[Edit]:
    """Drop what cannot be seen; every line end becomes a newline, a lone carriage return included."""
    for run in ODD.finditer(original):
        for found in _DROPPED.finditer(original, *run.span()):
            start, end = found.span()
            if found[0] == "\r":
                yield start, end, "" if original.startswith("\n", end) else "\n"
            else:
                yield start, end, ALWAYS.get(found[0], "")


def _piles(plain: str, accents: list[str]) -> Iterator[Edit]:
    """Drop the accents beyond any writing system's need from letters that are buried under them."""
    pile = re.compile(f"[{''.join(sorted(accents))}]{{{MARKS + 1},}}")
    for found in pile.finditer(plain):
        yield found.start() + MARKS, found.end(), ""


def _compatible(plain: str) -> Iterator[Edit]:
    """Bring every cluster of characters to its compatibility form (NFKC)."""
    for run in _FOREIGN.finditer(plain):
        first = max(run.start() - 1, 0)  # the letter before may take an accent
        token = plain[first:run.end()]
        if normalize("NFKC", token) == token:
            continue
        start = 0
        for at in range(1, len(token) + 1):
            if at < len(token) and _joins(token[at]):
                continue
            cluster = token[start:at]
            form = normalize("NFKC", cluster)
            if form != cluster and len(form) <= EXPANSION * len(cluster):
                form = normalize("NFKC", form.translate(_ALWAYS))  # a few forms are phonetic letters
                yield first + start, first + at, form
            start = at


def _joins(letter: str) -> bool:
    """Tell whether a character belongs to the one before it."""
    first = normalize("NFKD", letter)[0]
    return combining(first) > 0 or first in _SECONDS
