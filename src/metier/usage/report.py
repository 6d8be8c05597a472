"""Makes the usage report from counts and cards: what is used, what is dead, what is costly and
which skills say nearly the same. Pure.

Names and descriptions are compared as sets of words and word pairs, by their overlap. Only pairs
that share a band of their signatures are compared (minhash and locality-sensitive hashing), and of
each band's group only each with a few before it, so the work grows with the number of skills and
not with its square. One hash serves a whole signature: it falls into one of the places by its first
bits, and the least of each place is kept; an empty place takes what the next one to its right
holds.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from metier.fast import blake2b

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence, Set as AbstractSet

    from metier.model import Card
    from metier.usage.io import Count, Counts

    Shingles = frozenset[int]
    """The hashes of a text's words and pairs of words."""

MIN_SIMILARITY = 0.6
"""From which overlap on two skills are alike: the share of words and pairs that they have in
common."""
MAX_WORDS = 200
"""Words of a description that count."""
BANDS = 24
ROWS = 3
"""At an overlap of 0.6 all but 3 in 1,000 pairs share one of 24 bands of 3 places."""
MAX_NEIGHBOURS = 8
"""With how many before it in its group a skill is compared: of many that are all alike, each is
named with some."""
MAX_CHARACTERS = 4_096
PROGRESS_STEP = 500
"""After how many descriptions it is told how far the work has come."""

_WORD = re.compile(r"[0-9a-z\u00df-\u052f]+|[^\W_]")
"""A word of an alphabet, or one character of a script that does not part words."""
_PLACES = BANDS * ROWS
_BYTES = 7
"""Of a hash: enough that hardly two words share one, and few enough that Python counts with them
fast."""
_EMPTY = 1 << 8 * _BYTES


class Alike(NamedTuple):
    """Two skills that say nearly the same."""

    first: str
    second: str
    first_path: str
    second_path: str
    similarity: float
    """From 0 to 1: the share of words and word pairs that both have, of all that either has."""


def find_alike(
    skills: Iterable[tuple[str, str, str]],
    least: float = MIN_SIMILARITY,
    progress: Callable[[int], None] = lambda _count: None,
) -> list[Alike]:
    """Find the pairs among (path, name, description) that are alike, the closest first; `progress`
    learns how far it has come.
    """
    ordered = sorted(set(skills))
    sets: list[Shingles] = []
    found: dict[tuple[int, int], float] = {}
    for one, other in _candidates(_read(ordered, sets, progress)):
        if (one, other) not in found:
            found[one, other] = _overlap(sets[one], sets[other])
    pairs = [
        Alike(
            ordered[one][1], ordered[other][1], ordered[one][0], ordered[other][0], round(share, 3)
        )
        for (one, other), share in found.items()
        if share >= least
    ]
    return sorted(pairs, key=lambda pair: (-pair.similarity, pair.first_path, pair.second_path))


def _read(
    ordered: Sequence[tuple[str, str, str]],
    sets: list[Shingles],
    progress: Callable[[int], None],
) -> Iterable[Shingles]:
    """Give the words of each skill as a set, and keep it."""
    known: dict[str, int] = {}
    for at, (_path, name, description) in enumerate(ordered):
        if at % PROGRESS_STEP == 0:
            progress(at)
        sets.append(_shingles(f"{name} {description}", known))
        yield sets[-1]


def _candidates(sets: Iterable[Shingles]) -> Iterable[tuple[int, int]]:
    """Give pairs worth comparing, the lower number first."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for at, shingles in enumerate(sets):
        if not shingles:
            continue
        places = _signature(shingles)
        for band in range(BANDS):
            key = (band, *places[band * ROWS : band * ROWS + ROWS])
            group = groups.setdefault(key, [])
            for other in group[-MAX_NEIGHBOURS:]:
                yield other, at
            group.append(at)


def _signature(shingles: Iterable[int]) -> list[int]:
    places = [_EMPTY] * _PLACES
    for value in sorted(shingles, reverse=True):  # the least comes last, and stays
        places[value % _PLACES] = value
    # Twice round, so that what stands at the beginning reaches the empty places at the end.
    last = _EMPTY
    for at in range(2 * _PLACES - 1, -1, -1):
        if places[at % _PLACES] == _EMPTY:
            places[at % _PLACES] = last
        last = places[at % _PLACES]
    return places


def _shingles(text: str, known: dict[str, int]) -> Shingles:
    """Give the hashes of the words of a text and of each two that stand together."""
    words = [
        _hash(word, known) for word in _WORD.findall(text[:MAX_CHARACTERS].casefold())[:MAX_WORDS]
    ]
    # A pair's hash is made of its words' hashes: a library has many pairs and few words, and
    # hashing is what costs.
    return frozenset((*words, *((5 * one + other) % _EMPTY for one, other in pairwise(words))))


def _hash(word: str, known: dict[str, int]) -> int:
    value = known.get(word)
    if value is None:
        value = int.from_bytes(
            blake2b(word.encode("utf-8", "surrogatepass"), digest_size=_BYTES).digest(), "big"
        )
        known[word] = value
    return value


def _overlap(one: Shingles, other: Shingles) -> float:
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)


# --- the report

DAY = 86_400
MAX_COSTLY = 10
"""How many of the costliest skills are named."""
MAX_PAIRS = 100
"""How many pairs that say nearly the same are named."""
MIN_RUNS = 5
"""Runs from which on it is told how many of them went well (ZE-37)."""
GONE = "gone"
ELSEWHERE = "elsewhere"
"""The state of a skill that was counted and is no longer there; and of one that is, but not where
skills are looked for now."""
_LAST_SECOND = 253_402_300_799
"""The last second of the year 9999, beyond which dates have no name."""


class Used(NamedTuple):
    """What was counted about one skill."""

    name: str
    path: str
    state: str
    uses: int
    """Views, loads and runs together; reading a part of a skill belongs to one of them."""
    views: int
    loads: int
    reads: int
    runs: int
    failures: int
    tokens: int
    """Tokens that its instructions and files have cost so far."""
    last_used: str


class Idle(NamedTuple):
    """A visible skill that nobody uses, or has used for long."""

    name: str
    path: str
    tokens: int
    """What its card costs in every catalogue."""
    last_used: str
    """Nothing when it was never used."""
    days: int
    """Days without a use, since the last one or since it was known to be there."""


class Costly(NamedTuple):
    """A skill with much of the tokens that were disclosed."""

    name: str
    path: str
    tokens: int
    share: float
    """From 0 to 1, of all tokens counted."""
    per_use: int


class Usage(NamedTuple):
    """What is used, what is never used, what is expensive, and what exists twice."""

    since: str
    """When counting began; nothing when it has not."""
    days: int
    tokens: int
    skills: list[Used]
    dead: list[Idle]
    """Not used for that many days, and known for as long."""
    unused: list[Idle]
    """Never used, but not known for long enough to be called dead."""
    costly: list[Costly]
    duplicates: list[Alike]
    """The closest pairs; how many more there are is a note."""
    notes: list[str]


def make_report(
    counts: Counts,
    cards: Sequence[Card],
    there: AbstractSet[str],
    duplicates: list[Alike],
    now: int,
    days: int,
) -> Usage:
    """Put the report together; `cards` are all that were found, and `there` are the places at which
    something lies.
    """
    counts = _until(counts, now)
    states = {(card.path, card.name): card.state for card in cards}
    rows = [
        _used(one, states.get((one.path, one.name), ELSEWHERE if one.path in there else GONE))
        for one in counts.used
    ]
    rows.sort(key=lambda one: (-one.uses, -one.tokens, one.name, one.path))
    total = sum(one.tokens for one in rows)
    last = {(one.path, one.name): one.last for one in counts.used}
    known = {key: max(first, counts.began or now) for key, first in counts.seen.items()}
    idle = [
        _idle(card, last.get((card.path, card.name)), known.get((card.path, card.name), now), now)
        for card in cards
        if card.state == "visible"
    ]
    idle.sort(key=lambda one: (-one.days, -one.tokens, one.name, one.path))
    return Usage(
        since=date_of(counts.began) if counts.began else "",
        days=days,
        tokens=total,
        skills=rows,
        dead=[one for one in idle if one.days >= days],
        unused=[one for one in idle if one.days < days and not one.last_used],
        costly=_costly(rows, total),
        duplicates=duplicates[:MAX_PAIRS],
        notes=_notes(counts, len(duplicates)),
    )


def reliability(counts: Counts, cards: Sequence[Card]) -> dict[str, tuple[int, int]]:
    """Give by name how often a skill's scripts were run and how many in a hundred went well, once
    that is known (ZE-37).
    """
    there = {(card.path, card.name) for card in cards}
    runs: dict[str, list[int]] = {}
    for one in counts.used:
        if (one.path, one.name) in there:
            known = runs.setdefault(one.name, [0, 0])
            known[0] += one.runs
            known[1] += min(one.failures, one.runs)
    return {
        name: (total, 100 * (total - failed) // total)
        for name, (total, failed) in runs.items()
        if total >= MIN_RUNS
    }


def date_of(seconds: int) -> str:
    """Give a moment in ISO form, UTC."""
    return datetime.fromtimestamp(max(0, min(seconds, _LAST_SECOND)), UTC).strftime(
        "%Y-%m-%dT%H:%M:%SZ"
    )


def _until(counts: Counts, now: int) -> Counts:
    """Hold every time to now: nothing was used in days to come, whatever a clock said that was
    ahead.
    """
    used = tuple(one._replace(last=min(one.last, now)) for one in counts.used)
    seen = {key: min(first, now) for key, first in counts.seen.items()}
    return counts._replace(used=used, seen=seen, began=min(counts.began, now))


def _used(one: Count, state: str) -> Used:
    counted = one._asdict()
    last_used = date_of(counted.pop("last"))
    uses = one.views + one.loads + one.runs
    return Used(state=state, uses=uses, last_used=last_used, **counted)


def _idle(card: Card, last: int | None, known: int, now: int) -> Idle:
    days = max(0, now - (known if last is None else last)) // DAY
    return Idle(card.name, card.path, card.tokens, "" if last is None else date_of(last), days)


def _costly(rows: Sequence[Used], total: int) -> list[Costly]:
    ranked = sorted(
        (one for one in rows if one.tokens), key=lambda one: (-one.tokens, one.name, one.path)
    )[:MAX_COSTLY]
    return [
        Costly(
            one.name,
            one.path,
            one.tokens,
            round(one.tokens / total, 3),
            one.tokens // max(one.uses, 1),
        )
        for one in ranked
    ]


def _notes(counts: Counts, pairs: int) -> list[str]:
    notes = [counts.trouble] if counts.trouble else []
    if pairs > MAX_PAIRS:
        notes.append(f"{pairs - MAX_PAIRS:,} more pairs of skills say nearly the same")
    return notes + [
        f"counts from before could not be read; they were set aside: {path}"
        for path in counts.spoilt
    ]
