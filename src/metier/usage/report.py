"""From counts to what a person wants to know: what is used, what is dead, what is costly. Pure: counts, cards and a time in."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence, Set as AbstractSet

    from metier.model import Card
    from metier.usage.alike import Alike
    from metier.usage.db import Count, Counts

DAY = 86_400
COSTLY = 10
"""How many of the costliest skills are named."""
PAIRS = 100
"""How many pairs that say nearly the same are named."""
ENOUGH = 5
"""Runs from which on it is told how many of them went well (ZE-37)."""
GONE, ELSEWHERE = "gone", "elsewhere"
"""The state of a skill that was counted and is no longer there; and of one that is, but not where skills are looked for now."""
_LATEST = 253_402_300_799
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
    """What is used, what is dead, what is costly, and what is there twice."""

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


def usage(
    counts: Counts, cards: Sequence[Card], there: AbstractSet[str], duplicates: list[Alike], now: int, days: int
) -> Usage:  # fmt: skip
    """Put the report together; `cards` are all that were found, and `there` are the places at which something lies."""
    counts = _until(counts, now)
    states = {(card.path, card.name): card.state for card in cards}
    rows = [_used(one, states.get((one.path, one.name), ELSEWHERE if one.path in there else GONE)) for one in counts.used]
    rows.sort(key=lambda one: (-one.uses, -one.tokens, one.name, one.path))
    total = sum(one.tokens for one in rows)
    last = {(one.path, one.name): one.last for one in counts.used}
    known = {key: max(first, counts.began or now) for key, first in counts.seen.items()}
    idle = [_idle(card, last.get((card.path, card.name)), known.get((card.path, card.name), now), now)
            for card in cards if card.state == "visible"]  # fmt: skip
    idle.sort(key=lambda one: (-one.days, -one.tokens, one.name, one.path))
    return Usage(
        date_of(counts.began) if counts.began else "", days, total, rows,
        [one for one in idle if one.days >= days], [one for one in idle if one.days < days and not one.last_used],
        _costly(rows, total), duplicates[:PAIRS], _notes(counts, len(duplicates)),
    )  # fmt: skip


def reliability(counts: Counts, cards: Sequence[Card]) -> dict[str, tuple[int, int]]:
    """Give by name how often a skill's scripts were run and how many in a hundred went well, once that is known (ZE-37)."""
    there = {(card.path, card.name) for card in cards}
    runs: dict[str, list[int]] = {}
    for one in counts.used:
        if (one.path, one.name) in there:
            known = runs.setdefault(one.name, [0, 0])
            known[0] += one.runs
            known[1] += min(one.failures, one.runs)
    return {name: (total, 100 * (total - failed) // total) for name, (total, failed) in runs.items() if total >= ENOUGH}


def date_of(seconds: int) -> str:
    """Give a moment in ISO form, UTC."""
    return datetime.fromtimestamp(max(0, min(seconds, _LATEST)), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _until(counts: Counts, now: int) -> Counts:
    """Hold every time to now: nothing was used in days to come, whatever a clock said that was ahead."""
    used = tuple(one._replace(last=min(one.last, now)) for one in counts.used)
    seen = {key: min(first, now) for key, first in counts.seen.items()}
    return counts._replace(used=used, seen=seen, began=min(counts.began, now))


def _used(one: Count, state: str) -> Used:
    uses = one.views + one.loads + one.runs
    return Used(one.name, one.path, state, uses, *one[2:8], last_used=date_of(one.last))


def _idle(card: Card, last: int | None, known: int, now: int) -> Idle:
    days = max(0, now - (known if last is None else last)) // DAY
    return Idle(card.name, card.path, card.tokens, "" if last is None else date_of(last), days)


def _costly(rows: Sequence[Used], total: int) -> list[Costly]:
    ranked = sorted((one for one in rows if one.tokens), key=lambda one: (-one.tokens, one.name, one.path))[:COSTLY]
    return [Costly(one.name, one.path, one.tokens, round(one.tokens / total, 3), one.tokens // max(one.uses, 1)) for one in ranked]


def _notes(counts: Counts, pairs: int) -> list[str]:
    notes = [counts.trouble] if counts.trouble else []
    if pairs > PAIRS:
        notes.append(f"{pairs - PAIRS:,} more pairs of skills say nearly the same")
    return notes + [f"counts from before could not be read; they were set aside: {path}" for path in counts.spoilt]
