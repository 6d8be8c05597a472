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

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from metier.route.second import Reading

ENGINE = ("name", "description", "tags", "headings", "body", "coverage", "vector", "passage")
"""Signals of an engine that are features as they are."""
READ = ("share", "near", "phrase", "named")
"""Features of the second stage: how much of the task the best passage holds, how close together, what stands in the card word
for word, and how much of the task name and description hold."""
PARTS = {
    "name": "name", "description": "lexical", "tags": "lexical", "headings": "lexical", "body": "lexical", "coverage": "lexical",
    "vector": "vector", "passage": "passage", "trigger": "trigger", "share": "passage", "near": "passage", "phrase": "lexical",
    "named": "lexical",
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
"""Characters of a phrase from which on it counts in full: a skill that claims the word `a` gains nothing by it."""

_WORDS = {"name": 1.0, "description": 1.0, "tags": 0.3, "body": 1.0, "headings": 0.3, "trigger": 12.0}
_MEANING = {**_WORDS, "vector": 8.0, "passage": 8.0}
_SEEN = {"share": 4.0, "near": 2.0, "phrase": 2.0, "named": 2.0}

WEIGHTS: dict[tuple[bool, bool], dict[str, float]] = {
    (False, False): _WORDS,
    (True, False): _MEANING,
    (False, True): {**_WORDS, **_SEEN},
    (True, True): {**_MEANING, **_SEEN},
}
"""The weight of each feature, by whether there are vectors and whether the passages were read. What is not named weighs nothing."""


class Scored(NamedTuple):
    """A score, and the share that each kind of evidence has in it."""

    score: float
    why: dict[str, float]


def features(signals: Mapping[str, float], phrase: str = "", seen: Reading | None = None) -> dict[str, float]:
    """Give the features of one skill: an engine's signals, the trigger phrase that stands in the task, and what was read."""
    found = {name: signals.get(name, 0.0) for name in ENGINE}
    found["trigger"] = min(len(phrase), LONG_TRIGGER) / LONG_TRIGGER
    if seen is not None:
        found.update({name: getattr(seen, name) for name in READ})
    return found


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


def joined(read: Iterable[tuple[str, Scored, float]], unread: Iterable[tuple[str, Scored]]) -> dict[str, Scored]:
    """Put skills that were read and those that were not on one scale, by path.

    Those that were read come with their score of before. What was not read is taken to fit its passages no better than the least
    of those that were: reading more of them changes nothing about the order of the others.
    """
    read = list(read)
    found = {path: one for path, one, _before in read}
    if not read:
        return dict(unread)
    gain, floor = min(one.score - before for _path, one, before in read), min(one.score for one in found.values())
    for path, one in unread:
        why = {**one.why, "passage": one.why["passage"] + min(gain, floor - one.score) - BEHIND}
        found[path] = Scored(total(why), why)
    return found


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
    near = max(signals.get("vector", 0.0), signals.get("passage", 0.0)) >= FAINT
    return near or bool(phrase) or any(signals.get(name, 0.0) > 0 for name in WORDY)


def is_empty(found: Mapping[str, float]) -> bool:
    """Tell of a skill that was read whole whether all that speaks for it are words that stand in every request."""
    words = any(found[name] > 0 for name in ("name", "tags", "trigger", "share", "named"))
    return not words and found["coverage"] < SLIGHT and max(found["vector"], found["passage"]) < FAINT
