"""The second stage: what the passages of a few skills hold of a task. Pure; texts come in, and
nothing is kept.

A task's words may all stand in a long body and have nothing to do with one another. So a body is
cut into passages, at headings and empty lines, and of each it is asked how much of the task it
holds and how close together. A word that most of the candidates have says little about which of
them is meant, and weighs little.
"""

from __future__ import annotations

import re
from itertools import compress, count, pairwise
from math import fsum, log
from typing import TYPE_CHECKING, NamedTuple

from metier.find.words import PLAIN_BYTES, STOP_WORDS, roots, stem, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TypeAlias

    from metier.model import Texts

    Standing: TypeAlias = Sequence[tuple[int, str]]
    """Where in a passage words of a task stand, and which."""

MAX_BODY_CHARS = 12_000
"""Characters of a body that are read."""
PASSAGE_CHARACTERS = 900
"""About 150 words, after which a passage ends at the next empty line."""
MAX_PASSAGE_CHARS = 4 * PASSAGE_CHARACTERS
MAX_HEADING_CHARS = 100
MAX_TASK_TERMS = 64
"""Words of a task that are looked for."""
MAX_WORDS_APART = 8
"""Words between two that no longer stand together."""

_ASCII = bytes(range(128))
_MARK = re.compile(
    r"\n(?:(?P<title>#{1,6}[ \t][^\n]*)|(?P<fence> {0,3}(?:`{3}|~{3}))|(?=[ \t\r]{0,9}\n))"
)
"""A line at which a passage may end: a heading, a fence, or one with nothing on it. To begin with a
plain character is fast."""


class Passage(NamedTuple):
    """A part of a body: the heading that it stands under, and its words."""

    heading: str
    words: Texts


class Doc(NamedTuple):
    """A skill as the second stage reads it."""

    card: Texts
    """The words of its name and description."""
    passages: tuple[Passage, ...]
    whole: bool
    """Whether that is all of it."""


class TaskWords(NamedTuple):
    """A task as the second stage sees it."""

    terms: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    """Words that stand next to each other in the task."""


class Reading(NamedTuple):
    """What a skill's text holds of a task; each number lies between 0 and 1."""

    share: float = 0.0
    """How much of the task the best passage holds."""
    near: float = 0.0
    """How close together the task's words stand in it."""
    phrase: float = 0.0
    """How many of the task's pairs of neighbours stand in the name or the description."""
    named: float = 0.0
    """How much of the task name and description hold."""
    pairs: float = 0.0
    """How many of the task's pairs of neighbours stand somewhere in the passages."""
    heading: str = ""


def task_words(task: str, *, unfinished: bool = False) -> TaskWords:
    """Take a task apart; where its last word is not finished, without that."""
    found = words(task)
    said = [word for word in (found[:-1] if unfinished else found) if word not in STOP_WORDS]
    terms = frozenset(list(dict.fromkeys(said))[:MAX_TASK_TERMS])
    return TaskWords(
        terms,
        frozenset(pair for pair in pairwise(said[: 2 * MAX_TASK_TERMS]) if terms.issuperset(pair)),
    )


def doc(name: str, description: str, body: str) -> Doc:
    """Take a skill's text apart."""
    read = body[:MAX_BODY_CHARS]
    # a character each, so that places stay what they are
    plain = read.encode("ascii", "replace").translate(PLAIN_BYTES).decode()
    foreign = _has_letters(read)

    def words_between(start: int, end: int) -> Texts:
        if foreign and _has_letters(read[start:end]):
            return tuple(roots(read[start:end]))
        # The parts of an identifier are not looked for: that would take longer than all the rest.
        return tuple(map(stem, plain[start:end].split()))

    return Doc(
        tuple(words(f"{name}\n{description[:MAX_PASSAGE_CHARS]}")),
        tuple(Passage(heading, words_between(start, end)) for heading, start, end in parts(read)),
        len(body) <= MAX_BODY_CHARS,
    )


def _has_letters(text: str) -> bool:
    """Tell whether there are letters that are not ASCII: a dash or a picture is none. Bytes are
    dropped faster than characters.
    """
    if text.isascii():
        return False
    rest = text.encode("utf-8", "replace").translate(None, _ASCII)
    return any(char.isalnum() for char in set(rest.decode("utf-8")))


def parts(body: str) -> list[tuple[str, int, int]]:
    """Cut a body into passages, each with its heading, its start and its end.

    One ends at each heading, at an empty line when it has become long, and anywhere when it is too
    long.
    """
    found: list[tuple[str, int, int]] = []
    heading = ""
    start = 0
    fenced = False

    def cut(end: int) -> None:
        nonlocal start
        while end - start > MAX_PASSAGE_CHARS:
            found.append((heading, start, start + MAX_PASSAGE_CHARS))
            start += MAX_PASSAGE_CHARS
        if end > start:
            found.append((heading, start, end))
            start = end

    for line in _MARK.finditer("\n" + body):
        at, mark = (
            line.start(),
            line.lastgroup,
        )  # where the line begins: the break before it is one character further on
        if mark == "fence":
            fenced = not fenced
        elif mark == "title" and not fenced:
            cut(at)
            heading = " ".join(line[0].strip("# \t\r\n").split())[:MAX_HEADING_CHARS]
        elif mark is None and at - start > PASSAGE_CHARACTERS:
            cut(at)
    cut(len(body))
    return found


def readings(task: TaskWords, docs: Sequence[Doc]) -> list[Reading]:
    """Read the passages of all candidates together: a word weighs less the more of them have it."""
    held = [[task.terms.intersection(passage.words) for passage in one.passages] for one in docs]
    cards = [task.terms.intersection(one.card) for one in docs]
    weights = rarity(
        task.terms, [card.union(*some) for card, some in zip(cards, held, strict=True)]
    )
    whole = _sum(weights, weights)
    if not whole:
        return [Reading() for _one in docs]
    return [
        _best_passage(one, standing, some, weights, whole)._replace(
            phrase=_phrase(task, one),
            named=_sum(card, weights) / whole,
            pairs=_pairs(task, standing),
        )
        for one, some, card in zip(docs, held, cards, strict=True)
        for standing in [_places(one, some)]
    ]


def _places(skill: Doc, held: Sequence[frozenset[str]]) -> list[Standing]:
    """Give the places of a task's words in each passage that has several of them."""
    return [
        [
            (at, passage.words[at])
            for at in compress(count(), map(terms.__contains__, passage.words))
        ]
        if len(terms) > 1
        else ()
        for passage, terms in zip(skill.passages, held, strict=True)
    ]


def rarity(terms: Iterable[str], held: Sequence[frozenset[str]]) -> dict[str, float]:
    """Give each word its weight by how many candidates hold it.

    What every candidate has still says that a passage is about the task, but no more than that.
    """
    return {
        term: 1 + log((1 + len(held)) / (1 + sum(term in one for one in held))) for term in terms
    }


def _best_passage(
    skill: Doc,
    places: Sequence[Standing],
    held: Sequence[frozenset[str]],
    weights: Mapping[str, float],
    whole: float,
) -> Reading:
    """Give what the best passage of a skill holds; of equally good ones, the first."""
    best = Reading()
    for passage, standing, terms in zip(skill.passages, places, held, strict=True):
        share = _sum(terms, weights) / whole if terms else 0.0
        if (
            not terms or 2 * share < best.share + best.near
        ):  # words stand no closer together than all next to each other
            continue
        near = _closeness(standing, weights) / whole if len(terms) > 1 else 0.0
        if (share + near, share) > (best.share + best.near, best.share):
            best = Reading(share, near, heading=passage.heading)
    return best


def _sum(terms: Iterable[str], weights: Mapping[str, float]) -> float:
    """Add weights up exactly: the last digit of a plain sum would depend on how a set is laid
    out.
    """
    return fsum(map(weights.__getitem__, terms))


def _closeness(places: Standing, weights: Mapping[str, float]) -> float:
    """Add up for each word the lesser weight of it and its nearest other neighbour, divided by the
    words between them.
    """
    best: dict[str, float] = {}
    for (at, one), (after, other) in pairwise(places):
        if one != other and after - at <= MAX_WORDS_APART:
            gain = min(weights[one], weights[other]) / (after - at)
            for word in (one, other):
                best[word] = max(best.get(word, 0.0), gain)
    return _sum(best, best)


def _phrase(task: TaskWords, skill: Doc) -> float:
    said = [word for word in skill.card if word not in STOP_WORDS]
    return len(task.pairs.intersection(pairwise(said))) / len(task.pairs) if task.pairs else 0.0


def _pairs(task: TaskWords, places: Sequence[Standing]) -> float:
    """Give the share of the task's neighbours that stand together in a passage."""
    next_to = {
        (one, other)
        for some in places
        for (at, one), (after, other) in pairwise(some)
        if after == at + 1
    }
    return len(task.pairs & next_to) / len(task.pairs) if task.pairs else 0.0
