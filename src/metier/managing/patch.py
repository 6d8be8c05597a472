"""Replacing a passage of a text that an agent quotes, perhaps not to the letter: exact first, then blank for blank. Pure.

One place must be meant. Several are refused with their number, none with the line that comes nearest (HE-47).
"""

from __future__ import annotations

from typing import NamedTuple

SHOWN = 120
"""Characters of the nearest line that an error quotes."""
_COMPARED = 200
_LINES = 20_000
"""So much of a line, and so many lines, are looked at for the nearest: an error need not be perfect."""


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


def patched(text: str, old: str, new: str, *, replace_all: bool = False) -> Patched:
    """Replace the one place where `old` stands, or with `replace_all` every place."""
    if not old.strip():
        return Patched(text, 0, "the text to replace is blank")
    if old in text:
        return _settled(text, text.replace(old, new), _times(text, old), replace_all=replace_all)
    places = _places(text, old)
    if places:
        return _settled(text, _rewritten(text, old, new, places), len(places), replace_all=replace_all)
    line, nearest = _nearest(text, old)
    return Patched(text, 0, "the text to replace is not in the file", line, nearest)


def _settled(text: str, result: str, found: int, *, replace_all: bool) -> Patched:
    if found > 1 and not replace_all:
        return Patched(text, 0, f"the text to replace is in the file {found:,} times", several=True)
    return Patched(result, found) if result != text else Patched(text, 0, "that would change nothing")


def _times(text: str, part: str) -> int:
    """Count the places, also those that overlap as far as that makes two of one."""
    found = text.count(part)
    return 2 if found == 1 and text.find(part, text.find(part) + 1) >= 0 else found


def _places(text: str, old: str) -> list[int]:
    """Give the numbers of the lines where `old` begins, when every run of blanks counts as one and those at the ends as none."""
    # One search in one string: Python's is linear, while comparing line by line is not.
    whole = "\n" + "\n".join(map(_loose, text.split("\n"))) + "\n"
    wanted = "\n" + "\n".join(map(_loose, _lines(old))) + "\n"
    places: list[int] = []
    at, line, counted = whole.find(wanted), 0, 0
    while at >= 0:
        line += whole.count("\n", counted, at)
        counted = at
        places.append(line)
        at = whole.find(wanted, at + len(wanted) - 1)  # the last line break of one may be the first of the next
    return places


def _loose(line: str) -> str:
    return " ".join(line.split())


def _lines(quoted: str) -> list[str]:
    """Split a quotation into lines; blank ones before and after it are not meant."""
    whole = quoted.rstrip()
    first = whole.rfind("\n", 0, len(whole) - len(whole.lstrip())) + 1
    return whole[first:].split("\n")


def _rewritten(text: str, old: str, new: str, places: list[int]) -> str:
    lines, quoted = text.split("\n"), _lines(old)
    fresh = _lines(new) if new.strip() else []
    out: list[str] = []
    done = 0
    for place in places:
        out += lines[done:place]
        out += _moved(fresh, quoted[0], lines[place])
        done = place + len(quoted)
    return "\n".join([*out, *lines[done:]])


def _moved(fresh: list[str], quoted: str, there: str) -> list[str]:
    """Indent new lines as the file does where the quotation did not, and end them alike."""
    ours, theirs = _indent(quoted), _indent(there)
    end = "\r" if there.endswith("\r") else ""
    if theirs.endswith(ours):
        more = theirs[: len(theirs) - len(ours)]
        return [(more + line.rstrip("\r") if line.strip() else "") + end for line in fresh]
    less = len(ours) - len(theirs) if ours.endswith(theirs) else 0
    return [line[less if not line[:less].strip() else 0 :].rstrip("\r") + end for line in fresh]


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _nearest(text: str, old: str) -> tuple[int, str]:
    """Find the line most like the first of the quotation, by the letter pairs they share."""
    wanted = next(line for line in old.split("\n") if line.strip())
    pairs = _pairs(_loose(wanted[:_COMPARED]))
    best, number, nearest = 0.0, 0, ""
    for at, line in enumerate(text.split("\n", _LINES)[:_LINES], 1):
        loose = _loose(line[:_COMPARED])
        alike = 2 * sum(pair in loose for pair in pairs) / (len(pairs) + len(loose)) if loose else 0.0
        if alike > best:
            best, number, nearest = alike, at, line.strip()
    return number, nearest if len(nearest) <= SHOWN else nearest[: SHOWN - 1] + "…"


def _pairs(text: str) -> frozenset[str]:
    return frozenset(text[at : at + 2] for at in range(max(len(text) - 1, 1)))
