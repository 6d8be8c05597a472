"""A text as its tokens mean it, in one line of lower case, with the way back to where each stood; and patterns over it.

Comments are gone, hidden words are bare, constants are joined, strings stand between STX and ETX. Patterns are data.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from metier.scan.rule import Hit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metier.scan.tokens import Token

OPEN, CLOSE = "\x02", "\x03"  # around a string
SHELL_OPEN = "\x04"  # before a string that the language itself hands to a shell
MAX_PER_RULE = 20
_MARKS = {2: " ", 3: " ", 4: " "}


class Pattern(NamedTuple):
    """One way a rule shows itself. `need`: texts of which one must be present, to save the search where none is."""

    rule: str
    need: tuple[str, ...]
    regex: re.Pattern[str]
    code: bool = True
    """Whether the match must begin in code; otherwise it may begin inside a string."""
    then: str = ""
    """What must follow within `gap` characters; `{0}` stands for the first group of the match, as a name to find again."""
    gap: int = 0


class View(NamedTuple):
    """The line, where in it each token begins, and the tokens."""

    text: str
    starts: list[int]
    tokens: list[Token]

    def token(self, at: int) -> Token:
        """Return the token that covers that place of the line."""
        return self.tokens[max(bisect_right(self.starts, at) - 1, 0)]


def pattern(rule: str, need: str, regex: str, *, code: bool = True, then: str = "", gap: int = 800) -> Pattern:
    """Return one row of a pattern table; `need` holds words apart by blanks."""
    return Pattern(rule, tuple(need.split()), re.compile(regex), code, then, gap)


def view(source: str, tokens: list[Token]) -> View:
    """Return the line for the tokens of a source; a new line in the source stays one."""
    parts: list[str] = []
    starts: list[int] = []
    at, last = 0, 0
    for token in tokens:
        gap = "" if not parts else "\n" if source.find("\n", last, token.start) >= 0 else " " if token.start > last else ""
        text = token.text.translate(_MARKS).lower() if token.kind in ("string", "command") else token.text.lower()
        if token.kind == "string":
            text = OPEN + text + CLOSE
        elif token.kind == "command":
            text = SHELL_OPEN + text + CLOSE
        starts.append(at + len(gap))
        parts.append(gap + text)
        at += len(gap) + len(text)
        last = token.end
    return View("".join(parts), starts, tokens)


def match(seen: View, patterns: Iterable[Pattern]) -> list[Hit]:
    """Return the places where the patterns match, at the offsets of the source."""
    found: list[Hit] = []
    if not seen.tokens:
        return found
    for row in patterns:
        if row.need and not any(word in seen.text for word in row.need):
            continue
        before = len(found)
        for place in row.regex.finditer(seen.text):
            if len(found) - before >= MAX_PER_RULE:
                break
            first = seen.token(place.start())
            end = place.end()
            if row.code and first.kind == "string" and not place.group().startswith(OPEN):
                continue
            if row.then:
                end = _follows(seen.text, place, row)
            if end:
                last = seen.token(max(end - 1, place.start()))
                evidence = seen.text[place.start() : end][:200].strip("\x02\x03\x04")
                found.append(Hit(row.rule, first.start, max(last.end, first.end), evidence))
    return found


def _follows(text: str, place: re.Match[str], row: Pattern) -> int:
    """Return where what must follow a match ends, or nought; a second search, so that hostile text cannot multiply the two."""
    regex = row.then.replace("{0}", re.escape(place[1])) if "{0}" in row.then else row.then
    after = re.compile(regex).search(text, place.end(), place.end() + row.gap)
    return after.end() if after else 0


def tidy(hits: Iterable[Hit]) -> list[Hit]:
    """Return the hits sorted, each rule once per place and at most twenty times; no rule crowds out another."""
    kept: list[Hit] = []
    count: dict[str, int] = {}
    seen: set[tuple[str, int]] = set()
    for hit in sorted(hits, key=lambda hit: (hit.start, hit.rule, hit.end)):
        if (hit.rule, hit.start) in seen or count.get(hit.rule, 0) >= MAX_PER_RULE:
            continue
        seen.add((hit.rule, hit.start))
        count[hit.rule] = count.get(hit.rule, 0) + 1
        kept.append(hit)
    return kept
