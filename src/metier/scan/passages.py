"""The prose of a skill, cut into passages of a few sentences: what the model reads.

Code is left out: there a model takes a token read from the environment, or a build folder removed,
for an attack, and the analyzers know better. Passages overlap, so that nothing falls between two.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from metier.scan.model import word_set
from metier.scan.weigh import ReadPassage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from metier.ports import PassageReader
    from metier.scan.languages.file_text import FileText

PROSE_PLACES = word_set("frontmatter heading prose list quote table html-comment html")
PROSE_FENCES = word_set("markdown md text txt plaintext prompt")
"""Fences that hold sentences."""
PROSE_FILES = word_set("markdown text")
MIN_WORDS = 56
"""A passage goes on until it has so many words."""
MAX_WORDS = 110
MAX_UNIT_WORDS = 60
"""A sentence longer than this is cut."""
MAX_PASSAGES = 1500
"""Passages of one file: some 300 kB of prose."""
_UNIT = re.compile(r"[^\n]+?(?:[.!?](?=\s)|[\u3002\uff01\uff1f]|$)", re.MULTILINE)
_WORD = re.compile(r"\S+")


class ScanPassage(NamedTuple):
    """A stretch of a file's normalised text, and its words as the model reads them."""

    start: int
    end: int
    text: str


class _Unit(NamedTuple):
    start: int
    end: int
    text: str
    words: int


def read_passages(files: Iterable[FileText], reader: PassageReader) -> list[ReadPassage]:
    """Have the prose of a skill read; give what the model says of the passages that it chose."""
    places = [(file, passage) for file in files for passage in cut_passages(file)]
    found = []
    for at, value in reader.read([passage.text for _file, passage in places]):
        file, passage = places[at]
        found.append(ReadPassage(file.path, *file.text.span(passage.start, passage.end), value))
    return found


def cut_passages(file: FileText) -> list[ScanPassage]:
    """Cut the prose of a file into passages that overlap by about a half."""
    units = [unit for start, end in _prose(file) for unit in _units(file.text.plain, start, end)]
    found: list[ScanPassage] = []
    first = 0
    while first < len(units) and len(found) < MAX_PASSAGES:
        last = first
        count = units[first].words
        while last + 1 < len(units) and count < MIN_WORDS:
            if count + units[last + 1].words > MAX_WORDS:
                break
            last += 1
            count += units[last].words
        part = units[first : last + 1]
        found.append(ScanPassage(part[0].start, part[-1].end, "\n".join(one.text for one in part)))
        if last + 1 >= len(units):
            break
        first = _half(units, first, last, count)
    return found


def _half(units: list[_Unit], first: int, last: int, count: int) -> int:
    """Give the unit with which the next passage begins: the first one after half of this one."""
    passed = 0
    for at in range(first, last + 1):
        passed += units[at].words
        if 2 * passed >= count:
            return at + 1
    return last + 1


def _prose(file: FileText) -> Iterator[tuple[int, int]]:
    if file.kind not in PROSE_FILES:
        return
    if file.kind == "text":
        yield 0, len(file.text.plain)
        return
    for segment in file.segments:
        if segment.place in PROSE_PLACES or (
            segment.place == "fence" and segment.lang.lower() in PROSE_FENCES
        ):
            yield segment.start, segment.end


def _units(text: str, start: int, end: int) -> Iterator[_Unit]:
    """Cut a stretch at its lines and the ends of its sentences."""
    for match in _UNIT.finditer(text, start, end):
        words = list(_WORD.finditer(text, match.start(), match.end()))
        for at in range(0, len(words), MAX_UNIT_WORDS):
            part = words[at : at + MAX_UNIT_WORDS]
            yield _Unit(
                part[0].start(), part[-1].end(), " ".join(one[0] for one in part), len(part)
            )
