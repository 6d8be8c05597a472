"""Words into concepts: one pass over a text, after which rules speak of `secret` and `send` and not of spellings.

A rule written on words catches the sentence it was written for; one written on concepts also catches its paraphrase.
A text is cut into sentences; of each, only the concepts it holds are kept, with their places.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from metier.scan.rules.concepts import PHRASES, STEMS, WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_SENTENCE = 60
"""Words after which a sentence ends, whatever the text says: no rule looks further."""

_TOKEN = re.compile(
    r"(?P<url>https?://[^\s)\]>\"'`]{1,300})"
    r"|(?P<word>[~./$@]{0,3}[^\W\d][\w]*(?:['\u2019\-.][^\W\d][\w]*){0,8})"
    r"|(?P<end>[.!?:;](?=\s|$)|\n[ \t]*(?:\n|[-*+>#|]|\d{1,3}[.)])|```|~~~)"
)
_PHRASE_WORDS = 5


class Mention(NamedTuple):
    """One concept at one place: which words of the sentence, which characters of the text."""

    concept: str
    at: int
    """The number of its first word in the sentence."""
    last: int
    start: int
    end: int


class Sentence(NamedTuple):
    """The concepts of one sentence, in order; `words` is how many words it has."""

    mentions: tuple[Mention, ...]
    start: int
    end: int
    words: int


def _inflected(stem: str) -> Iterator[str]:
    """Give a verb's or noun's common forms. Rough: a form that does not exist never occurs either."""
    yield stem
    if stem.endswith("e"):
        yield from (stem + "s", stem + "d", stem[:-1] + "ing")
    elif stem.endswith("y") and stem[-2:-1] not in "aeiou":
        yield from (stem[:-1] + "ies", stem[:-1] + "ied", stem + "ing")
    elif stem.endswith(("s", "x", "z", "ch", "sh")):
        yield from (stem + "es", stem + "ed", stem + "ing")
    else:
        yield from (stem + "s", stem + "ed", stem + "ing", stem + stem[-1] + "ed", stem + stem[-1] + "ing")


def _lexicon() -> tuple[dict[str, tuple[str, ...]], dict[str, list[tuple[tuple[str, ...], str]]]]:
    words: dict[str, set[str]] = {}
    for concept, text in WORDS.items():
        for word in text.split():
            words.setdefault(word, set()).add(concept)
    for concept, text in STEMS.items():
        for stem in text.split():
            for form in _inflected(stem):
                words.setdefault(form, set()).add(concept)
    phrases: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for concept, lines in PHRASES.items():
        for line in lines:
            first, *rest = line.split()
            phrases.setdefault(first, []).append((tuple(rest), concept))
    for found in phrases.values():
        found.sort(key=lambda pair: -len(pair[0]))
    return {word: tuple(sorted(concepts)) for word, concepts in words.items()}, phrases


_WORDS, _PHRASES = _lexicon()


def sentences(text: str) -> list[Sentence]:
    """Cut a normalised text into sentences, each with the concepts in it; those without any are left out."""
    found: list[Sentence] = []
    words: list[tuple[str, int, int]] = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind == "end" or len(words) >= MAX_SENTENCE:
            _keep(words, found)
            words = []
        if kind == "word":
            words.append((match.group().lower(), match.start(), match.end()))
        elif kind == "url":
            words.append(("http-url", match.start(), match.end()))
    _keep(words, found)
    return found


def _keep(words: list[tuple[str, int, int]], found: list[Sentence]) -> None:
    if not words:
        return
    mentions: list[Mention] = []
    for at, (word, start, end) in enumerate(words):
        word = word.replace("\u2019", "'")  # noqa: PLW2901 - the same word, as the lexicon spells it
        mentions.extend(Mention(concept, at, at, start, end) for concept in _WORDS.get(word, ()))
        if "." in word or "/" in word or word[0] in "~$@":
            mentions.extend(Mention(concept, at, at, start, end) for concept in _parts(word))
        for rest, concept in _PHRASES.get(word, ()):
            last = at + len(rest)
            if last < len(words) and all(words[at + 1 + n][0] == part for n, part in enumerate(rest)):
                mentions.append(Mention(concept, at, last, start, words[last][2]))
    if mentions:
        found.append(Sentence(tuple(mentions), words[0][1], words[-1][2], len(words)))


def _parts(word: str) -> Iterator[str]:
    """Look up the parts of a path or a dotted word: `~/.ssh/id_rsa` speaks of `.ssh` and `id_rsa`."""
    if word == "http-url":
        return
    for part in re.split(r"[/\\]", word):
        yield from _WORDS.get(part, ())
        bare = part.strip(".~$@")
        if bare != part:
            yield from _WORDS.get(bare, ())
