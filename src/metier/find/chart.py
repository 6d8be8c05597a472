"""Places all skills on a plane, alike ones together, and finds those that are nearly the same: by
the vectors that the index has, else by the words of their cards.

Nothing is embedded for it. The same skills give the same picture: the plane is that of the two
directions in which they differ most, and each point is then drawn to its nearest neighbours.
"""

from __future__ import annotations

import zlib
from collections import Counter
from math import log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from metier.errors import StoreError
from metier.fast import blake2b
from metier.find.model import MapPair, SkillMap
from metier.find.refresh import update_index
from metier.find.words import STOP_WORDS, words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from metier.context import Context
    from metier.find.model import CurrentIndex
    from metier.model import Card

    Rows = NDArray[np.float32]
    Numbers = NDArray[np.int64]

MIN_SAME_COSINE = 0.9
"""From which cosine on two skills are nearly the same."""
MAX_COMPARED = 20_000
"""Skills that are compared with each other; of more, every few are left out."""
MAX_PAIRS = 2_000
MAX_PAIRS_OF_ONE = 5
"""Pairs that are kept of one skill and those before it."""
COMPARE_SECONDS = 20
"""After which time no more skills are compared."""
SIDE = 1_000
"""The length of the plane's sides; places are whole numbers."""
_NEIGHBOURS = 6
_STEPS = 14
_BLOCK = 512
_WORD_WIDTH = 512
_WORD_CHARS = 1_500
_NAME_WEIGHT = 2
_MARGIN = 0.03
_SECOND_NS = 1_000_000_000


class _Near(NamedTuple):
    """What a comparison of all with all found."""

    neighbours: Numbers
    """Of each skill those that are nearest to it."""
    pairs: list[MapPair]
    more: int
    groups: tuple[tuple[int, ...], ...]
    whole: bool


def make_map(context: Context, known: SkillMap | None = None) -> SkillMap:
    """Place the skills that can be read; what is `known` is given back where nothing differs."""
    now = update_index(context, most=0)
    cards = _some([card for card in now.cards.values() if card.state != "invalid"])
    by_meaning = now.has_vectors
    key = _key_of(cards, by_meaning, now)
    if known is not None and known.key == key:
        return known
    placed, rows = _by_meaning(now, cards) if by_meaning else (cards, None)
    if rows is None:
        by_meaning, placed, rows = False, cards, word_vectors(cards)
    until = context.ports.clock_ns() + COMPARE_SECONDS * _SECOND_NS
    near = compare(rows, lambda: context.ports.clock_ns() > until)
    places = place(rows, near.neighbours)
    return SkillMap(
        by="meaning" if by_meaning else "words",
        paths=tuple(card.path for card in placed),
        places=tuple((x, y) for x, y in places.tolist()),
        pairs=tuple(near.pairs),
        more=near.more,
        groups=near.groups,
        missing=len(now.cards) - len(placed),
        whole=near.whole,
        key=key,
    )


def _some(cards: list[Card]) -> list[Card]:
    """Give cards in the order of their paths, and of very many every few."""
    ordered = sorted(cards, key=lambda card: card.path)
    step = -(-len(ordered) // MAX_COMPARED) or 1
    return ordered[::step]


def _key_of(cards: Sequence[Card], by_meaning: bool, now: CurrentIndex) -> str:  # noqa: FBT001 - one of what it is made of
    held = blake2b(digest_size=16)
    lacking = len(now.meaning.lacking) if by_meaning and now.meaning else -1
    held.update(f"{by_meaning} {lacking}\0".encode())
    for card in cards:
        text = f"{card.path}\0{card.name}\0{card.description}\0{card.tokens}\0"
        held.update(text.encode("utf-8", "surrogatepass"))
    return held.hexdigest()


# --- what is compared


def _by_meaning(now: CurrentIndex, cards: list[Card]) -> tuple[list[Card], Rows | None]:
    """Give the skills that have vectors, and these."""
    try:
        found = np.asarray(now.engine.vectors_of([card.path for card in cards]), np.float32)
    except StoreError:  # words are still there
        return cards, None
    if found.ndim != 2 or not found.shape[1]:
        return cards, None
    kept = np.flatnonzero(np.isfinite(found.sum(axis=1))).tolist()
    return [cards[at] for at in kept], _unit(found[kept])


def word_vectors(cards: Sequence[Card]) -> Rows:
    """Give the words of each card as a vector: rare words weigh more, and those of a name twice."""
    counted = [_words_of(card) for card in cards]
    having = Counter(word for one in counted for word in one)
    weight = {word: log((1 + len(cards)) / (1 + count)) + 0.1 for word, count in having.items()}
    hashed = {word: zlib.crc32(word.encode("utf-8", "surrogatepass")) for word in having}
    found = np.zeros((len(cards), _WORD_WIDTH), np.float32)
    for at, one in enumerate(counted):
        for word, count in one.items():
            number = hashed[word]
            value = weight[word] * (1 + log(count))
            found[at, number % _WORD_WIDTH] += value if number & 0x10000 else -value
    return _unit(found)


def _words_of(card: Card) -> Counter[str]:
    found = Counter(words(card.description[:_WORD_CHARS]))
    for word in words(card.name[:_WORD_CHARS]):
        found[word] += _NAME_WEIGHT
    return Counter({word: count for word, count in found.items() if word not in STOP_WORDS})


def _unit(rows: Rows) -> Rows:
    lengths = np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
    found: Rows = (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return found


# --- comparing


def compare(rows: Rows, expired: Callable[[], bool] = lambda: False) -> _Near:
    """Compare all with all, block by block, until time is up."""
    count = len(rows)
    wanted = min(_NEIGHBOURS, max(count - 1, 0))
    neighbours: Numbers = np.repeat(np.arange(count)[:, None], max(wanted, 1), axis=1)
    pairs: list[MapPair] = []
    total = 0
    joined = list(range(count))
    whole = True
    for start in range(0, count if wanted else 0, _BLOCK):
        if expired():
            whole = False
            break
        cosines = rows[start : start + _BLOCK] @ rows.T
        here = np.arange(start, start + len(cosines))
        cosines[np.arange(len(cosines)), here] = -2
        some = np.argpartition(-cosines, wanted - 1, axis=1)[:, :wanted]
        neighbours[here] = np.sort(some, axis=1)
        cosines[np.arange(count)[None, :] >= here[:, None]] = -2  # each pair once
        for at in np.flatnonzero((cosines >= MIN_SAME_COSINE).any(axis=1)).tolist():
            one = start + at
            others = np.flatnonzero(cosines[at] >= MIN_SAME_COSINE)
            best = others[np.argsort(-cosines[at, others], kind="stable")][:MAX_PAIRS_OF_ONE]
            total += len(others)
            pairs += [
                MapPair(int(other), one, round(min(float(cosines[at, other]), 1.0), 3))
                for other in best
            ]
            for other in {int(others[0]), *best.tolist()}:
                _join(joined, other, one)
    pairs.sort(key=lambda pair: (-pair.cosine, pair.one, pair.other))
    kept = pairs[:MAX_PAIRS]
    return _Near(neighbours, kept, total - len(kept), _groups(joined), whole)


def _top(joined: list[int], one: int) -> int:
    while joined[one] != one:
        joined[one] = joined[joined[one]]
        one = joined[one]
    return one


def _join(joined: list[int], one: int, other: int) -> None:
    first, second = sorted((_top(joined, one), _top(joined, other)))
    joined[second] = first


def _groups(joined: list[int]) -> tuple[tuple[int, ...], ...]:
    """Give who belongs together, the largest group first; who is alone is in none."""
    found: dict[int, list[int]] = {}
    for one in range(len(joined)):
        found.setdefault(_top(joined, one), []).append(one)
    several = [tuple(group) for group in found.values() if len(group) > 1]
    return tuple(sorted(several, key=lambda group: (-len(group), group)))


# --- placing


def place(rows: Rows, neighbours: Numbers) -> Numbers:
    """Give each skill its place on the plane."""
    count = len(rows)
    if count < 3:
        return np.array(
            [(SIDE * (at + 1) // (count + 1), SIDE // 2) for at in range(count)]
        ).reshape(count, 2)
    centred = (rows - rows.mean(axis=0)).astype(np.float64)
    _sizes, axes = np.linalg.eigh(centred.T @ centred)
    plane = axes[:, -2:][:, ::-1]
    largest = plane[np.abs(plane).argmax(axis=0), [0, 1]]
    plane = plane * np.where(largest < 0, -1, 1)  # either sign would do, and one must be chosen
    points = _levelled(centred @ plane)
    for _step in range(_STEPS):
        points = _levelled(points / 2 + points[neighbours].mean(axis=1) / 2)
    return _whole_numbers(points)


def _levelled(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Move points to the middle, and give both directions the same width."""
    moved = points - points.mean(axis=0)
    width = moved.std(axis=0)
    moved = moved / np.where(width > 1e-12, width, 1)
    turned = moved[:, 1] - moved[:, 0] * (moved[:, 0] * moved[:, 1]).mean()
    width_left = turned.std()
    if width_left > 1e-9:
        moved[:, 1] = turned / width_left
    found: NDArray[np.float64] = moved
    return found


def _whole_numbers(points: NDArray[np.float64]) -> Numbers:
    """Fit points into the plane: half by where they are and half by their rank, so that a crowd is
    spread out; what would lie at one place is put around it.
    """
    count = len(points)
    low, high = np.percentile(points, (1, 99), axis=0)  # a few that lie far off press on nobody
    shares = np.clip((points - low) / np.where(high > low, high - low, 1), 0, 1)
    ranks = np.argsort(np.argsort(np.round(points, 9), axis=0, kind="stable"), axis=0) / (count - 1)
    mixed = _MARGIN + (shares + ranks) / 2 * (1 - 2 * _MARGIN)
    turn = np.arange(count) * 2.399963  # the golden angle
    around = np.stack([np.cos(turn), np.sin(turn)], axis=1) * 0.004
    found: Numbers = np.clip(np.rint((mixed + around) * SIDE), 0, SIDE).astype(np.int64)
    return found
