"""What speaks for a skill → one score, and how much of it each kind of evidence gave. Pure, and linear on purpose.

A score is a sum of features, each times its weight, so that `why` can say what made a skill rank without a word of guessing.
The features are those of an engine (one BM25 for each field, how much of the task any field holds, cosines), whether a trigger
stands in the task, and what the second stage saw in the passages. There is a table for each state of knowledge: with and without
vectors, before and after the passages were read. Scores of one answer are then laid on a scale on which words and meaning give
the best skill 1, so that the visible weights mean the same whatever was asked.
"""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, NamedTuple

from metier.route.words import telling

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from metier.route.second import Reading

ENGINE = ("name", "description", "tags", "headings", "body", "coverage", "vector")
"""Signals of an engine that are features as they are."""
READ = ("share", "near", "phrase", "named", "pairs")
"""Features of the second stage: how much of the task the best passage holds, how close together, what stands in the card word
for word, how much of the task name and description hold, and what stands anywhere in the passages word for word."""
PARTS = {
    "name": "name", "description": "lexical", "tags": "lexical", "headings": "lexical", "body": "lexical", "coverage": "lexical",
    "vector": "vector", "trigger": "trigger", "share": "passage", "near": "passage", "phrase": "lexical",
    "named": "lexical", "pairs": "passage",
}  # fmt: skip
"""Under which word of `why` each feature is shown."""
ALWAYS = ("lexical", "vector", "trigger", "name", "passage")
"""Words of `why` that stand in every hit."""
WORDY = ("name", "description", "tags", "headings", "body")
"""Signals of which any is enough to be an answer."""
FAINT = 0.2
"""A cosine below which two texts have nothing to do with one another."""
SLIGHT = 0.5
"""How much of a task a skill must hold of which no telling word was seen, to be an answer: one may stand inside another word."""
BEHIND = 1e-6
"""By how much what was not read stays behind what was: more than the last digits of two sums can differ."""
LONG_TRIGGER = 24
"""Characters of a phrase from which on it counts in full: a skill that claims the word `a` gains nothing by it, nor one that
claims what stands in every request."""

_WORDS = {"name": 0.26, "description": 0.22, "tags": 0.1, "headings": 0.04, "body": 0.46, "coverage": 0.03, "trigger": 1.0}
_MEANING = {
    "name": 0.09, "description": 0.07, "tags": 0.03, "headings": 0.02, "body": 0.18, "coverage": 0.08, "trigger": 1.0,
    "vector": 0.56,
}  # fmt: skip
_WORDS_READ = {
    "name": 0.14, "description": 0.06, "tags": 0.05, "headings": 0.02, "body": 0.17, "coverage": 0.02, "trigger": 1.0,
    "share": 0.07, "near": 0.1, "phrase": 0.06, "named": 0.19, "pairs": 0.18,
}  # fmt: skip
_MEANING_READ = {
    "name": 0.05, "description": 0.01, "tags": 0.02, "body": 0.105, "coverage": 0.06, "trigger": 1.0,
    "vector": 0.45, "share": 0.03, "near": 0.03, "phrase": 0.05, "named": 0.12, "pairs": 0.105,
}  # fmt: skip

WEIGHTS: dict[tuple[bool, bool], dict[str, float]] = {
    (False, False): _WORDS,
    (True, False): _MEANING,
    (False, True): _WORDS_READ,
    (True, True): _MEANING_READ,
}
"""The weight of each feature, by whether there are vectors and whether the passages were read. What is not named weighs nothing."""


class Scored(NamedTuple):
    """A score, and the share that each kind of evidence has in it."""

    score: float
    why: dict[str, float]


def features(signals: Mapping[str, float], phrase: str = "", seen: Reading | None = None) -> dict[str, float]:
    """Give the features of one skill: an engine's signals, the trigger phrase that stands in the task, and what was read.

    A field's score grows with the number of words that are asked for, and is divided by how much that is: so words weigh less
    against meaning where a skill has few of them, however many there are.
    """
    asked = signals.get("asked", 0.0) or 1.0
    found = {name: signals.get(name, 0.0) / (asked if name in WORDY else 1.0) for name in ENGINE}
    found["trigger"] = min(telling(phrase), LONG_TRIGGER) / LONG_TRIGGER if phrase else 0.0
    if seen is not None:
        found.update({name: getattr(seen, name) for name in READ})
    return found


_UNREAD = {vectors: tuple((name, PARTS[name], weight, name in WORDY) for name, weight in WEIGHTS[vectors, False].items())
           for vectors in (False, True)}  # fmt: skip


def unread(signals: Mapping[str, float], *, vectors: bool) -> Scored:
    """Weigh what an engine says of a skill whose passages were not read, as `scored` does its `features`, in half the time.

    Of hundreds of candidates all are weighed, and few get any further.
    """
    asked, why = signals.get("asked", 0.0) or 1.0, dict.fromkeys(ALWAYS, 0.0)
    for name, part, weight, is_share in _UNREAD[vectors]:
        value = signals.get(name)
        if value:
            why[part] += weight * (value / asked if is_share else value)
    return Scored(total(why), why)


def scored(found: Mapping[str, float], *, vectors: bool, read: bool) -> Scored:
    """Weigh the features of a skill."""
    why = dict.fromkeys(ALWAYS, 0.0)
    for name, weight in WEIGHTS[vectors, read].items():
        value = found.get(name, 0.0)
        if value:
            why[PARTS[name]] += weight * value
    return Scored(total(why), why)


def total(why: Mapping[str, float]) -> float:
    """Give the score that shares add up to, whatever their order: a plain sum's last digit would depend on that."""
    return fsum(why.values())


def joined(read: Iterable[tuple[str, Scored, float]], *tiers: Iterable[tuple[str, Scored]]) -> dict[str, Scored]:
    """Put skills that were read and those that were not on one scale, by path.

    Those that were read come with their score of before. What was not read is taken to fit its passages no better than the least
    of those that were: reading more of them changes nothing about the order of the others. In the same way each tier of what was
    not read stays behind the one before.
    """
    read = list(read)
    found = {path: one for path, one, _before in read}
    gain = min((one.score - before for _path, one, before in read), default=0.0)
    for tier in tiers:
        floor = min((one.score for one in found.values()), default=None)
        found.update((path, one if floor is None else _held_back(one, gain, floor)) for path, one in tier)
    return found


def _held_back(one: Scored, gain: float, floor: float) -> Scored:
    why = {**one.why, "passage": one.why["passage"] + min(gain, floor - one.score) - BEHIND}
    return Scored(total(why), why)


def on_one_scale(found: Mapping[str, Scored]) -> dict[str, Scored]:
    """Divide all scores so that the best is 1; where none is above nothing, they stay."""
    best = max((one.score for one in found.values()), default=0.0)
    if best <= 0:
        return dict(found)
    return {path: _divided(one, best) for path, one in found.items()}


def _divided(one: Scored, best: float) -> Scored:
    why = {name: share / best for name, share in one.why.items()}
    return Scored(total(why), why)


def fits(signals: Mapping[str, float], phrase: str = "") -> bool:
    """Tell whether anything speaks for a skill: an engine gives the nearest by meaning, however far they are."""
    near = signals.get("vector", 0.0) >= FAINT
    return near or telling(phrase) > 0 or any(signals.get(name, 0.0) > 0 for name in WORDY)


def is_empty(found: Mapping[str, float]) -> bool:
    """Tell of a skill that was read whole whether all that speaks for it are words that stand in every request."""
    words = any(found[name] > 0 for name in ("name", "tags", "trigger", "share", "named"))
    return not words and found["coverage"] < SLIGHT and found["vector"] < FAINT
