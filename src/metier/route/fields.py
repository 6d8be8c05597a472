"""A skill's text → the words of each field, counted. Pure.

The body is the whole text, its headings among the rest; which of its words stand in a heading is known besides.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import normalize

from metier.route.words import counts, plain_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metier.wanted import Text

FIELDS = ("name", "description", "tags", "body", "headings")
"""Every field, in the order in which an index keeps their lengths; those before the last have words of their own."""
NAME, DESCRIPTION, TAGS, BODY, HEADINGS = range(5)
LONGEST_TAG = 200
EXACT = "\0"
"""Before a whole tag among the words: no word begins so."""

_LINE = re.compile(r"^(?:#{1,6} (?P<title>[^\n]*)| {0,3}(?P<fence>`{3,}|~{3,})(?P<rest>[^\n]*))", re.MULTILINE)


class Counted(NamedTuple):
    """A skill's words: how often each field has each, which stand in a heading, how long each field is, and those of the name."""

    counts: tuple[dict[str, int], dict[str, int], dict[str, int], dict[str, int]]
    headed: frozenset[str]
    lengths: tuple[int, ...]
    named: frozenset[str]
    """As they are written, where all others are stems."""


def counted(text: Text) -> Counted:
    """Count the words of a skill, field by field."""
    tags = counts(" ".join(text.tags))
    found = counts(text.name), counts(text.description), tags, counts(text.body)
    headed = frozenset(counts("\n".join(titles(text.body))).keys() & found[BODY].keys())
    lengths = (*(sum(one.values()) for one in found), len(headed))
    tags.update({EXACT + tag: 1 for tag in map(exact, text.tags)})  # a filter is no word: it makes the field no longer
    return Counted(found, headed, lengths, frozenset(plain_words(text.name)))


def exact(tag: str) -> str:
    """Give a tag in the form in which two tags are the same."""
    return " ".join(normalize("NFC", normalize("NFD", tag[:LONGEST_TAG]).casefold()).split())


def titles(body: str) -> Iterable[str]:
    """Give the headings of a text; a line in a code fence is none."""
    fence = ""
    for line in _LINE.finditer(body):
        marks = line["fence"]
        if marks is None:
            if not fence:
                yield line["title"]
        elif not fence:
            fence = marks if marks[0] == "~" or "`" not in line["rest"] else ""
        elif marks.startswith(fence) and not line["rest"].strip():
            fence = ""
