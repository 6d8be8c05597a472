"""The second stage: what the passages of a few skills hold of a task. Pure; texts come in, and nothing is kept.

A task's words may all stand in a long body and have nothing to do with one another. So a body is cut into passages, at headings
and empty lines, and of each it is asked how much of the task it holds and how close together. A word that most of the candidates
have says little about which of them is meant, and weighs little.
"""

from __future__ import annotations

import re
from itertools import pairwise
from math import log
from typing import TYPE_CHECKING, NamedTuple

from metier.route.words import stem, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

LONGEST_BODY = 20_000
"""Characters of a body that are read."""
PASSAGE_CHARACTERS = 900
"""About 150 words, after which a passage ends at the next empty line."""
LONGEST_PASSAGE = 4 * PASSAGE_CHARACTERS
LONGEST_HEADING = 100
MOST_TERMS = 64
"""Words of a task that are looked for."""
APART = 8
"""Words between two that no longer stand together."""
SAY_NOTHING = frozenset(words(
    "a an and any are as at be been but by can could did do does for from get give had has have help how i if in into is it its "
    "let like make may me my need no not of on or our please should so some tell than that the their them then there these they "
    "this to up us use want was we were what when where which who why will with would you your"
))  # fmt: skip
"""Words that are in every request, whatever it is about."""

_STAYS = frozenset(b"0123456789abcdefghijklmnopqrstuvwxyz+#")
_PLAIN = bytes(code if code in _STAYS else 32 for code in bytes(range(256)).lower())
"""Small letters, and a space for whatever parts words."""
_MARK = re.compile(r"\n(?:(?P<title>#{1,6}[ \t][^\n]*)|(?P<fence> {0,3}(?:`{3}|~{3}))|(?=[ \t\r]{0,9}\n))")
"""A line at which a passage may end: a heading, a fence, or one with nothing on it. To begin with a plain character is fast."""


class Passage(NamedTuple):
    """A part of a body: the heading that it stands under, and its words."""

    heading: str
    words: tuple[str, ...]


class Doc(NamedTuple):
    """A skill as the second stage reads it."""

    card: tuple[str, ...]
    """The words of its name and description."""
    passages: tuple[Passage, ...]
    whole: bool
    """Whether that is all of it."""


class Sought(NamedTuple):
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
    heading: str = ""


def sought(task: str, *, unfinished: bool = False) -> Sought:
    """Take a task apart; where its last word is not finished, without that."""
    found = words(task)
    said = [word for word in (found[:-1] if unfinished else found) if word not in SAY_NOTHING]
    return Sought(frozenset(list(dict.fromkeys(said))[:MOST_TERMS]), frozenset(pairwise(said[: 2 * MOST_TERMS])))


def doc(name: str, description: str, body: str) -> Doc:
    """Take a skill's text apart."""
    read = body[:LONGEST_BODY]
    plain = read.encode("ascii", "replace").translate(_PLAIN).decode()  # a character each, so that places stay what they are
    passages = tuple(Passage(heading, _words(read, plain, start, end)) for heading, start, end in parts(read))
    return Doc(tuple(words(f"{name}\n{description[:LONGEST_PASSAGE]}")), passages, len(body) <= LONGEST_BODY)


def _words(text: str, plain: str, start: int, end: int) -> tuple[str, ...]:
    """Give the words of a passage. The parts of an identifier are not looked for: that would take longer than all the rest."""
    passage = text[start:end]
    if not passage.isascii() and any(char.isalnum() for char in set(passage) if char > "\x7f"):
        return tuple(words(passage))
    return tuple(map(stem, plain[start:end].split()))


def parts(body: str) -> list[tuple[str, int, int]]:
    """Cut a body into passages, each with its heading, its start and its end.

    One ends at each heading, at an empty line when it has become long, and anywhere when it is too long.
    """
    found: list[tuple[str, int, int]] = []
    heading, start, fenced = "", 0, False

    def cut(end: int) -> None:
        nonlocal start
        while end > start:
            part = min(end, start + LONGEST_PASSAGE)
            found.append((heading, start, part))
            start = part

    for line in _MARK.finditer("\n" + body):
        at, mark = line.start(), line.lastgroup  # where the line begins: the break before it is one character further on
        if mark == "fence":
            fenced = not fenced
        elif mark == "title" and not fenced:
            cut(at)
            heading = " ".join(line[0].strip("# \t\r\n").split())[:LONGEST_HEADING]
        elif mark is None and at - start > PASSAGE_CHARACTERS:
            cut(at)
    cut(len(body))
    return found


def readings(task: Sought, docs: Sequence[Doc]) -> list[Reading]:
    """Read the passages of all candidates together: a word weighs less the more of them have it."""
    held = [[task.terms.intersection(passage.words) for passage in one.passages] for one in docs]
    cards = [task.terms.intersection(one.card) for one in docs]
    weights = rarity(task.terms, [card.union(*some) for card, some in zip(cards, held, strict=True)])
    whole = sum(weights[term] for term in sorted(weights))
    if not whole:
        return [Reading() for _one in docs]
    return [
        _best(one, some, weights, whole)._replace(phrase=_phrase(task, one), named=_sum(card, weights) / whole)
        for one, some, card in zip(docs, held, cards, strict=True)
    ]


def rarity(terms: Iterable[str], held: Sequence[frozenset[str]]) -> dict[str, float]:
    """Give each word its weight by how many candidates hold it.

    What every candidate has still says that a passage is about the task, but no more than that.
    """
    return {term: 1 + log((1 + len(held)) / (1 + sum(term in one for one in held))) for term in terms}


def _best(skill: Doc, held: Sequence[frozenset[str]], weights: Mapping[str, float], whole: float) -> Reading:
    """Give what the best passage of a skill holds; of equally good ones, the first."""
    best = Reading()
    for passage, terms in zip(skill.passages, held, strict=True):
        if not terms:
            continue
        share = _sum(terms, weights) / whole
        near = _closeness(passage.words, terms, weights) / whole if len(terms) > 1 else 0.0
        if (share + near, share) > (best.share + best.near, best.share):
            best = Reading(share, near, heading=passage.heading)
    return best


def _sum(terms: Iterable[str], weights: Mapping[str, float]) -> float:
    """Add weights up in one order, or the last digit of the sum would depend on how a set is laid out."""
    return sum(weights[term] for term in sorted(terms))


def _closeness(text: Sequence[str], held: frozenset[str], weights: Mapping[str, float]) -> float:
    """Add up for each word the lesser weight of it and its nearest other neighbour, divided by the words between them."""
    places = [(at, word) for at, word in enumerate(text) if word in held]
    best: dict[str, float] = {}
    for (at, one), (after, other) in pairwise(places):
        if one != other and after - at <= APART:
            gain = min(weights[one], weights[other]) / (after - at)
            for word in (one, other):
                best[word] = max(best.get(word, 0.0), gain)
    return _sum(best, best)


def _phrase(task: Sought, skill: Doc) -> float:
    said = [word for word in skill.card if word not in SAY_NOTHING]
    return len(task.pairs.intersection(pairwise(said))) / len(task.pairs) if task.pairs else 0.0
