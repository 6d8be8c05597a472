"""Which places of the shared tables the commands name. All words are searched at once: the tables are long, and words many."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from metier.scan.rules import places

if TYPE_CHECKING:
    from metier.scan.shell.calls import Call, Script
    from metier.scan.shellwords import Word

_MOST = 400
"""Words looked at that name the same place; more of them say nothing more, and no place hides another."""
_ALL = 1 << 20
_SHORTEST = 4  # letters of a place's name
_BRACKET = re.compile(r"\[(\w)\]")


class Named(NamedTuple):
    """A word that names a place, what the place is, and the word's part in its command."""

    call: Call
    word: Word
    part: str
    """`word`, `assign`, `<` (read from) or `>` (written to)."""
    what: str


class Texts(NamedTuple):
    """Every word of a script in one text, one to a line."""

    words: list[tuple[Call, Word, str]]
    starts: list[int]
    text: str


def texts(script: Script) -> Texts:
    """Put the words of a script together. The text of a nested script is left out: its own words are there."""
    words: list[tuple[Call, Word, str]] = []
    for call in script.calls:
        command = call.command
        nested = call.place in script.children and bool(script.inside(call, "-c", "eval"))
        first = max(0, len(command.words) - len(call.words) - 1)
        words += [(call, word, "word") for word in command.words[first:] if not (nested and " " in word.text)]
        if command.assigns:
            words += [(call, word, "assign") for _, word in command.assigns]
        if command.redirects:
            words += [(call, one.target, ">" if ">" in one.op else "<") for one in command.redirects]
    starts: list[int] = []
    size = 0
    plain = [_unbracketed(word.text) for _, word, _ in words]
    for text in plain:
        starts.append(size)
        size += len(text) + 1
    return Texts(words, starts, "\n".join(plain))


def _unbracketed(text: str) -> str:
    """Return the text with `[x]` as `x`: to the shell `/etc/shad[o]w` and `/etc/shadow` are one file."""
    return _BRACKET.sub(r"\1", text) if "[" in text else text


def named(kind: str, all_texts: Texts) -> list[Named]:
    """Return the words that name a place of one kind."""
    found: list[Named] = []
    counts: dict[str, int] = {}
    for seen in places.look(kind, all_texts.text, _ALL):
        counts[seen.what] = counts.get(seen.what, 0) + 1
        if counts[seen.what] > _MOST:
            continue
        call, word, part = all_texts.words[bisect_right(all_texts.starts, seen.start) - 1]
        found.append(Named(call, word, part, seen.what))
    return found


def crowded(all_texts: Texts) -> bool:
    """Say whether some place is named more often than is looked at."""
    if len(all_texts.text) < _MOST * _SHORTEST:
        return False
    for kind in ("credential", "exfiltration", "persistence", "memory"):
        counts: dict[str, int] = {}
        for seen in places.look(kind, all_texts.text, _ALL):
            counts[seen.what] = counts.get(seen.what, 0) + 1
        if any(count > _MOST for count in counts.values()):
            return True
    return False
