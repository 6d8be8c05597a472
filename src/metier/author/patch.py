"""Replacing a passage of a text that an agent quotes, perhaps not to the letter: exact first, then
blank for blank. Pure.

One place must be meant. Several are refused with their number, none with the line that comes
nearest (HE-47).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from metier.author.limits import MAX_FILE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_QUOTED_CHARACTERS = 120
"""Characters of the nearest line that an error quotes."""
_MAX_COMPARED_CHARACTERS = 200
_MAX_COMPARED_LINES = 20_000
"""So much of a line, and so many lines, are looked at for the nearest: an error need not be
perfect."""


class Patched(NamedTuple):
    """The text after a patch and how many places were replaced; or why there is none."""

    text: str
    count: int  # type: ignore[assignment]  # tuples have a method of that name
    fault: str = ""
    line: int = 0
    """The number of the line that comes nearest, where nothing matched."""
    nearest: str = ""
    several: bool = False
    """Whether more than one place matched."""
    size: int = 0
    """The characters that the result would have, where those are too many."""


def apply_patch(
    text: str, old: str, new: str, *, replace_all: bool = False, limit: int = MAX_FILE_BYTES
) -> Patched:
    """Replace the one place where `old` stands, or with `replace_all` every place; `limit` is the
    most characters of the result.

    Places are counted and the result is measured before it is made: a letter that is everywhere,
    replaced by a long text, would otherwise take all the memory there is.
    """
    if not old.strip():
        return Patched(text, 0, "the text to replace is blank")
    if old in text:
        fresh = _ended(new, old if "\n" in old else text)
        found = text.count(old)
        again = (
            found > 1 or text.find(old, text.find(old) + 1) >= 0
        )  # places that overlap are two as well
        size = len(text) + found * (len(fresh) - len(old))
        make: Callable[[], str] = partial(text.replace, old, fresh)
    else:
        places, again = _places(text, old)
        if not places:
            fault = "the text to replace is not in the file"
            return Patched(text, 0, fault, *_nearest(text, old))
        pieces = _Pieces(text, old, new, places)
        found = len(places)
        size = pieces.size()
        make = pieces.joined
    if again and not replace_all:
        return Patched(
            text, 0, f"the text to replace is in the file {max(found, 2):,} times", several=True
        )
    if size > limit:
        return Patched(text, 0, f"the file would have {size:,} characters", size=size)
    result = make()
    return (
        Patched(result, found) if result != text else Patched(text, 0, "that would change nothing")
    )


def _ended(new: str, like: str) -> str:
    """Give a text the line ends of another, if those are carriage returns with line feeds."""
    if "\n" not in new or 2 * like.count("\r\n") <= like.count("\n"):
        return new
    return new.replace("\r\n", "\n").replace("\n", "\r\n")


def _places(text: str, old: str) -> tuple[list[int], bool]:
    """Give the lines where `old` begins, when every run of blanks counts as one and those at the
    ends as none.

    No two of these places overlap. Whether `old` stands there more than once, counting those that
    do, is told beside them.
    """
    # One search in one string: Python's is linear, while comparing line by line is not.
    whole = "\n" + "\n".join(map(_loose, text.split("\n"))) + "\n"
    wanted = "\n" + "\n".join(map(_loose, _lines(old))) + "\n"
    places: list[int] = []
    first = at = whole.find(wanted)
    line = counted = 0
    while at >= 0:
        line += whole.count("\n", counted, at)
        counted = at
        places.append(line)
        at = whole.find(
            wanted, at + len(wanted) - 1
        )  # the last line break of one may be the first of the next
    return places, len(places) > 1 or (first >= 0 and whole.find(wanted, first + 1) >= 0)


def _loose(line: str) -> str:
    return " ".join(line.split())


def _lines(quoted: str) -> list[str]:
    """Split a quotation into lines; blank ones before and after it are not meant."""
    whole = quoted.rstrip()
    first = whole.rfind("\n", 0, len(whole) - len(whole.lstrip())) + 1
    return whole[first:].split("\n")


class _Pieces:
    """A text whose lines are about to be replaced at some places, measured before anything is put
    together.
    """

    def __init__(self, text: str, old: str, new: str, places: list[int]) -> None:
        self.lines, self.quoted, self.places = text.split("\n"), _lines(old), places
        self.fresh = _lines(new) if new.strip() else []
        self.ours = _indent(self.quoted[0])

    def size(self) -> int:
        """Give the characters of the result, or a few more than it has: the file's own indentation
        counts for every new line.
        """
        filled = sum(1 for line in self.fresh if line.strip())
        long = sum(map(len, self.fresh)) + 2 * len(self.fresh)
        size = sum(map(len, self.lines)) + len(self.lines) - 1
        for place in self.places:
            size += long + filled * len(_added(self.ours, _indent(self.lines[place])))
            size -= sum(len(line) + 1 for line in self.lines[place : place + len(self.quoted)])
        return size

    def joined(self) -> str:
        """Give the result."""
        out: list[str] = []
        done = 0
        for place in self.places:
            out += self.lines[done:place]
            out += _moved(self.fresh, self.ours, self.lines[place])
            done = place + len(self.quoted)
        return "\n".join([*out, *self.lines[done:]])


def _added(ours: str, theirs: str) -> str:
    """Give the indentation that the file has and the quotation has not."""
    return theirs[: len(theirs) - len(ours)] if theirs.endswith(ours) else ""


def _moved(fresh: list[str], ours: str, there: str) -> list[str]:
    """Indent new lines as the file does where the quotation, indented by `ours`, did not; and end
    them alike.
    """
    theirs = _indent(there)
    end = "\r" if there.endswith("\r") else ""
    if theirs.endswith(ours):
        more = _added(ours, theirs)
        return [(more + line.rstrip("\r") if line.strip() else "") + end for line in fresh]
    less = len(ours) - len(theirs) if ours.endswith(theirs) else 0
    return [line[less if not line[:less].strip() else 0 :].rstrip("\r") + end for line in fresh]


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _nearest(text: str, old: str) -> tuple[int, str]:
    """Find the line most like the first of the quotation, by the letter pairs they share."""
    wanted = next(line for line in old.split("\n") if line.strip())
    sought = _loose(wanted[:_MAX_COMPARED_CHARACTERS])
    pairs = {sought[at : at + 2] for at in range(max(len(sought) - 1, 1))}
    best = 0.0
    number = 0
    nearest = ""
    for at, line in enumerate(text.split("\n", _MAX_COMPARED_LINES)[:_MAX_COMPARED_LINES], 1):
        loose = _loose(line[:_MAX_COMPARED_CHARACTERS])
        alike = (
            2 * sum(pair in loose for pair in pairs) / (len(pairs) + len(loose)) if loose else 0.0
        )
        if alike > best:
            best = alike
            number = at
            nearest = line.strip()
    return number, nearest if len(nearest) <= MAX_QUOTED_CHARACTERS else nearest[
        : MAX_QUOTED_CHARACTERS - 1
    ] + "…"
