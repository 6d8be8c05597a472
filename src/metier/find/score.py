"""Adds up what speaks for a skill into one score, and says how much of it each kind of evidence
gave. Linear on purpose.

A score is a sum of features, each times its weight, so that `why` can say what made a skill rank
without a word of guessing. The features are those of an engine (one BM25 for each field, how much
of the task any field holds, cosines), whether a trigger stands in the task, and what the second
stage saw in the passages. There is a table for each state of knowledge: with and without vectors,
before and after the passages were read. Scores of one answer are then laid on a scale on which
words and meaning give the best skill 1, so that the visible weights mean the same whatever was
asked.

The visible weights are what the user wants to count beside the task: trust, readiness, usage and
scope.
"""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, NamedTuple

from metier.find.words import telling_chars

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from metier.context import Context
    from metier.find.passages import Reading
    from metier.model import Card, Scope, Trust
    from metier.settings.model import FindSettings


ENGINE_SIGNALS = ("name", "description", "tags", "headings", "body", "coverage", "vector")
"""Signals of an engine that are features as they are."""
PASSAGE_FEATURES = ("share", "near", "phrase", "named", "pairs")
"""Features of the second stage: how much of the task the best passage holds, how close together,
what stands in the card word for word, how much of the task name and description hold, and what
stands anywhere in the passages word for word."""
WHY_PARTS = {
    "name": "name",
    "description": "lexical",
    "tags": "lexical",
    "headings": "lexical",
    "body": "lexical",
    "coverage": "lexical",
    "vector": "vector",
    "trigger": "trigger",
    "share": "passage",
    "near": "passage",
    "phrase": "lexical",
    "named": "lexical",
    "pairs": "passage",
}
"""Under which word of `why` each feature is shown."""
ALWAYS_SHOWN = ("lexical", "vector", "trigger", "name", "passage")
"""Words of `why` that stand in every hit."""
WORD_SIGNALS = ("name", "description", "tags", "headings", "body")
"""Signals of which any is enough to be an answer."""
MIN_COSINE = 0.2
"""A cosine below which two texts have nothing to do with one another."""
MIN_COVERAGE = 0.5
"""How much of a task a skill must hold of which no telling word was seen, to be an answer: one may
stand inside another word."""
MAX_WEAK_TERMS = 6
"""Words of a task up to which an answer can be called weak: of a longer one, a skill always holds
too few."""
WEAK_LIMITS = (
    {"vector": 0.3, "named": 0.05, "coverage": 0.15},
    {"vector": 0.25, "named": 0.35, "coverage": 0.65},
)
WEAK_BY_WORDS = ({"named": 0.05, "coverage": 0.35},)
"""A skill is weak where all that speaks for it stays below one of these rows, with vectors and
without: hardly a word of the task is in it, or its meaning is far away. Unlike a score, these don't
depend on what else was found."""
UNREAD_GAP = 1e-6
"""By how much what was not read stays behind what was: more than the last digits of two sums can
differ."""
FULL_TRIGGER_CHARS = 24
"""Characters of a phrase from which on it counts in full: a skill that claims the word `a` gains
nothing by it, nor one that claims what stands in every request."""

_WORDS = {
    "name": 0.26,
    "description": 0.22,
    "tags": 0.1,
    "headings": 0.04,
    "body": 0.46,
    "coverage": 0.03,
    "trigger": 1.0,
}
_MEANING = {
    "name": 0.09,
    "description": 0.07,
    "tags": 0.03,
    "headings": 0.02,
    "body": 0.18,
    "coverage": 0.08,
    "trigger": 1.0,
    "vector": 0.56,
}
_WORDS_READ = {
    "name": 0.14,
    "description": 0.06,
    "tags": 0.05,
    "headings": 0.02,
    "body": 0.17,
    "coverage": 0.02,
    "trigger": 1.0,
    "share": 0.07,
    "near": 0.1,
    "phrase": 0.06,
    "named": 0.19,
    "pairs": 0.18,
}
_MEANING_READ = {
    "name": 0.05,
    "description": 0.01,
    "tags": 0.02,
    "body": 0.105,
    "coverage": 0.06,
    "trigger": 1.0,
    "vector": 0.45,
    "share": 0.03,
    "near": 0.03,
    "phrase": 0.05,
    "named": 0.12,
    "pairs": 0.105,
}

WEIGHTS: dict[tuple[bool, bool], dict[str, float]] = {
    (False, False): _WORDS,
    (True, False): _MEANING,
    (False, True): _WORDS_READ,
    (True, True): _MEANING_READ,
}
"""The weight of each feature, by whether there are vectors and whether the passages were read. What
is not named weighs nothing."""


class Scored(NamedTuple):
    """A score, and the share that each kind of evidence has in it."""

    score: float
    why: dict[str, float]


def features(
    signals: Mapping[str, float], phrase: str = "", seen: Reading | None = None
) -> dict[str, float]:
    """Give the features of one skill: an engine's signals, the trigger phrase that stands in the
    task, and what was read.

    A field's score grows with the number of words that are asked for, and is divided by how much
    that is: so words weigh less against meaning where a skill has few of them, however many there
    are.
    """
    asked = signals.get("asked", 0.0) or 1.0
    found = {
        name: signals.get(name, 0.0) / (asked if name in WORD_SIGNALS else 1.0)
        for name in ENGINE_SIGNALS
    }
    found["trigger"] = (
        min(telling_chars(phrase), FULL_TRIGGER_CHARS) / FULL_TRIGGER_CHARS if phrase else 0.0
    )
    if seen is not None:
        found.update({name: getattr(seen, name) for name in PASSAGE_FEATURES})
    return found


def scored(found: Mapping[str, float], *, vectors: bool, read: bool) -> Scored:
    """Weigh the features of a skill."""
    why = dict.fromkeys(ALWAYS_SHOWN, 0.0)
    for name, weight in WEIGHTS[vectors, read].items():
        value = found.get(name, 0.0)
        if value:
            why[WHY_PARTS[name]] += weight * value
    return _summed(why)


def _summed(why: dict[str, float]) -> Scored:
    """Give the score that shares add up to, whatever their order: a plain sum's last digit would
    depend on that.
    """
    return Scored(fsum(why.values()), why)


def joined(
    read: Iterable[tuple[str, Scored, float]], *tiers: Iterable[tuple[str, Scored]]
) -> dict[str, Scored]:
    """Put skills that were read and those that were not on one scale, by path.

    Those that were read come with their score of before. What was not read is taken to fit its
    passages no better than the least of those that were: reading more of them changes nothing about
    the order of the others. In the same way each tier of what was not read stays behind the one
    before.
    """
    read = list(read)
    found = {path: one for path, one, _before in read}
    gain = min((one.score - before for _path, one, before in read), default=0.0)
    for tier in tiers:
        floor = min((one.score for one in found.values()), default=None)
        found.update(
            (path, one if floor is None else _held_back(one, gain, floor)) for path, one in tier
        )
    return found


def _held_back(one: Scored, gain: float, floor: float) -> Scored:
    passage = one.why["passage"] + min(gain, floor - one.score) - UNREAD_GAP
    return with_shares(one, {"passage": passage})


def with_shares(one: Scored, shares: Mapping[str, float]) -> Scored:
    """Put shares beside those that a score has, or in their place."""
    return _summed({**one.why, **shares}) if shares else one


def on_one_scale(found: Mapping[str, Scored]) -> dict[str, Scored]:
    """Divide all scores so that the best is 1; where none is above nothing, they stay."""
    best = max((one.score for one in found.values()), default=0.0)
    if best <= 0:
        return dict(found)
    return {
        path: _summed({name: share / best for name, share in one.why.items()})
        for path, one in found.items()
    }


def fits(signals: Mapping[str, float], phrase: str = "") -> bool:
    """Tell whether anything speaks for a skill: an engine gives the nearest by meaning, however far
    they are.
    """
    near = signals.get("vector", 0.0) >= MIN_COSINE
    return (
        near
        or telling_chars(phrase) > 0
        or any(signals.get(name, 0.0) > 0 for name in WORD_SIGNALS)
    )


def is_empty(found: Mapping[str, float]) -> bool:
    """Tell of a skill that was read whole whether all that speaks for it are words that stand in
    every request.
    """
    words = any(found[name] > 0 for name in ("name", "tags", "trigger", "share", "named"))
    return not words and found["coverage"] < MIN_COVERAGE and found["vector"] < MIN_COSINE


def is_weak(found: Mapping[str, float], terms: int, *, vectors: bool) -> bool:
    """Tell of the features of a skill whether it hardly fits, though it may be the best there is."""
    if terms > MAX_WEAK_TERMS or found.get("trigger", 0.0) > 0:
        return False
    return any(
        all(found.get(name, 0.0) < limit for name, limit in limits.items())
        for limits in (WEAK_LIMITS if vectors else WEAK_BY_WORDS)
    )


# --- what the user wants to count

TRUST_WEIGHTS: dict[str, float] = {"builtin": 1.0, "own": 1.0, "trusted": 1.0, "verified": 0.5}
READINESS_WEIGHTS: dict[str, float] = {"setup_needed": -0.5, "unsupported": -1.0}
"""What a skill lacks is held against it; that it lacks nothing is no merit."""


def user_shares(
    card: Card,
    routing: FindSettings,
    precedence: Sequence[Scope],
    level: Trust = "community",
    went_well: float = 0.0,
) -> dict[str, float]:
    """Give the share of each weight that is on; one that is off is not even named.

    `went_well` is the share of its runs that went well, for a skill that ran often enough.
    """
    weighed = {
        "trust": (routing.trust, TRUST_WEIGHTS.get(level, 0.0)),
        "readiness": (routing.readiness, READINESS_WEIGHTS.get(card.readiness, 0.0)),
        "usage": (routing.usage, went_well),
        "scope": (routing.scope, _strength(card.scope, precedence)),
    }
    return {name: weight * value for name, (weight, value) in weighed.items() if weight}


def _strength(scope: Scope, precedence: Sequence[Scope]) -> float:
    """Give 1 for the strongest scope, nothing for the weakest."""
    last = len(precedence) - 1
    return 1 - precedence.index(scope) / last if scope in precedence and last > 0 else 0.0


class UserWeights:
    """The visible weights of a library, for one answer."""

    def __init__(self, context: Context) -> None:
        """Look at what all skills share."""
        self.context, self._stats = context, _stats(context)
        self._known: dict[str, dict[str, float]] = {}

    def shares(self, card: Card) -> dict[str, float]:
        """Give the share of each weight that is on."""
        if card.path not in self._known:
            settings = self.context.settings
            went_well = self._stats.get(card.name, (0, 0))[1] / 100
            level = _level(self.context, card)
            self._known[card.path] = user_shares(
                card, settings.route, settings.precedence, level, went_well
            )
        return self._known[card.path]


def _stats(context: Context) -> Mapping[str, tuple[int, int]]:
    if not context.settings.route.usage:
        return {}
    from metier.usage.counter import run_stats

    return run_stats(context)


def _level(context: Context, card: Card) -> Trust:
    """Give how far a skill is trusted, where that counts: it needs the verdict on each, and those
    are kept.
    """
    if not context.settings.route.trust:
        return "community"
    from metier.errors import MetierError
    from metier.trust.assess import assess_skill

    try:
        return assess_skill(context, card).decision.level
    except (MetierError, OSError):  # gone since it was listed
        return "community"
