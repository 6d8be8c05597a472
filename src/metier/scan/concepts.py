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

# Groups: a plain word, an address, a path or dotted word, the end of a sentence. Most tokens are plain words, so they come first.
_TOKEN = re.compile(
    r"([^\W\d]\w*+(?:['\-][^\W\d]\w*+){0,8}+(?!://|\.[^\W\d]))"
    r"|(https?://[^\s)\]>\"'`]{1,300})"
    r"|([~./$@]{1,3}[^\W\d]\w*(?:['\-.][^\W\d]\w*){0,8}|[^\W\d]\w*(?:['\-.][^\W\d]\w*){0,8})"
    r"|([.!?:;](?=\s|$)|\n[ \t]*(?:\n|[-*+>#|]|\d{1,3}[.)])|```|~~~)"
)
_WORD, _URL, _PATH, _END = 1, 2, 3, 4


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
_KNOWN = _WORDS.keys() | _PHRASES.keys()


def sentences(text: str) -> list[Sentence]:
    """Cut a normalised text into sentences, each with the concepts in it; those without any are left out."""
    found: list[Sentence] = []
    words: list[str] = []
    places: list[re.Match[str]] = []
    telling: list[int] = []
    known = _KNOWN
    for match in _TOKEN.finditer(_lowered(text)):
        kind = match.lastindex
        if kind == _END or len(words) >= MAX_SENTENCE:
            if telling:
                found.append(_sentence(words, places, telling))
                telling = []
            words, places = [], []
            if kind == _END:
                continue
        word = match.group() if kind != _URL else "http-url"
        if word in known or kind == _PATH:
            telling.append(len(words))
        words.append(word)
        places.append(match)
    if telling:
        found.append(_sentence(words, places, telling))
    return [sentence for sentence in found if sentence.mentions]


def _lowered(text: str) -> str:
    """Lower a text without moving anything: a letter whose small form is longer stays as it is."""
    low = text.lower()
    if len(low) != len(text):
        low = "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)
    return low.replace("\u2019", "'")


def _sentence(words: list[str], places: list[re.Match[str]], telling: list[int]) -> Sentence:
    mentions: list[Mention] = []
    for at in telling:
        word, (start, end) = words[at], places[at].span()
        mentions.extend(Mention(concept, at, at, start, end) for concept in _WORDS.get(word, ()))
        if places[at].lastindex == _PATH:
            mentions.extend(Mention(concept, at, at, start, end) for concept in _parts(word))
        for rest, concept in _PHRASES.get(word, ()):
            last = at + len(rest)
            if tuple(words[at + 1 : last + 1]) == rest:
                mentions.append(Mention(concept, at, last, start, places[last].end()))
    return Sentence(tuple(mentions), places[0].start(), places[-1].end(), len(words))


def _parts(word: str) -> Iterator[str]:
    """Look up the parts of a path or a dotted word: `~/.ssh/id_rsa` speaks of `.ssh` and `id_rsa`."""
    if word == "http-url":
        return
    for part in re.split(r"[/\\]", word):
        yield from _WORDS.get(part, ())
        bare = part.strip(".~$@")
        if bare != part:
            yield from _WORDS.get(bare, ())
