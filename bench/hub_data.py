"""Skills by the million for `hub.py`: texts drawn from a distribution of words, put straight into a
hub's database.

Each generated body is drawn from the words of one document, mixed with those of all: so a word that
is rare stays rare, and one that a document uses often is used often. The documents are those of a pool
(an archive or a folder with `pool.jsonl`: name, description, body) or, without one, made up: words
whose frequency falls as in natural text. No text of a pool is kept anywhere but in the database.
"""

from __future__ import annotations

import json
import random
import re
import tarfile
from bisect import bisect_left
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import trees

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SEED = 26
SPACES = 10
BODIES = 20_000
"""Different bodies. A million skills share them, each under its own name and description."""
VOCABULARY = 40_000
DOCUMENTS = 3_000
SHARE_OF_ALL = 0.25
"""How much of a body is drawn from the words of all documents."""
TABLE_WORDS = 1 << 16
_WORD = re.compile(r"[^\W_]+")
_SYLLABLES = tuple(first + last for first in "bcdfghjklmnprstvwxyz" for last in "aeiou")


class Source(NamedTuple):
    """Where words come from."""

    said: str
    documents: list[list[str]]
    """The words of each document's body."""
    titles: list[list[str]]
    """The words of its name and description."""
    all_words: list[str]
    """Words of all documents, each as often as it is used."""


class Skill(NamedTuple):
    """One generated skill, but for its body."""

    number: int
    space: int
    name: str
    description: str
    body: int


def source(pool: Path | None) -> Source:
    """Read the words of a pool, or make some up."""
    return _from_pool(pool) if pool else _made_up()


def _from_pool(pool: Path) -> Source:
    documents, titles = [], []
    for line in _pool_lines(pool):
        row = json.loads(line)
        body = _WORD.findall(row.get("body", "").lower())
        title = _WORD.findall(f"{row['name']} {row['description']}".lower())
        if len(body) > 20 and len(title) > 3:
            documents.append(body)
            titles.append(title)
    said = f"the words of {len(documents):,} skills of {pool.name}"
    return Source(said, documents, titles, _sample(documents))


def _pool_lines(pool: Path) -> Iterator[str]:
    if pool.is_dir():
        with open(pool / "pool.jsonl", encoding="utf-8") as file:
            yield from file
        return
    with tarfile.open(pool) as tar:
        for entry in tar:
            if entry.name.endswith("pool.jsonl"):
                packed = tar.extractfile(entry)
                assert packed is not None
                for line in packed:
                    yield line.decode()


def _sample(documents: list[list[str]]) -> list[str]:
    rng = random.Random(SEED)  # noqa: S311 - filler, not secrets
    return [rng.choice(rng.choice(documents)) for _ in range(TABLE_WORDS)]


def _made_up() -> Source:
    """Make words whose frequency falls with their rank, and documents that are each about a few."""
    rng = random.Random(SEED)  # noqa: S311 - filler, not secrets
    made = set(trees.WORDS)
    words = list(trees.WORDS)
    while len(words) < VOCABULARY:
        word = "".join(rng.choices(_SYLLABLES, k=rng.randrange(2, 5)))
        if word not in made:
            made.add(word)
            words.append(word)
    sums = list(accumulate(1 / (rank + 2.7) for rank in range(VOCABULARY)))
    documents, titles = [], []
    for _ in range(DOCUMENTS):
        about = rng.choices(words, cum_weights=sums, k=120)
        length = 40 + _length(rng, trees.FILE_BYTES) // 7
        documents.append(
            rng.choices(about, k=length // 2) + rng.choices(words, cum_weights=sums, k=length // 2)
        )
        titles.append(rng.choices(about, k=max(6, _length(rng, trees.DESCRIPTION_CHARS) // 7)))
    return Source(f"{VOCABULARY:,} made-up words", documents, titles, _sample(documents))


def _length(rng: random.Random, table: tuple[int, ...]) -> int:
    at = rng.random()
    right = bisect_left(trees.POINTS, at) or 1
    share = (at - trees.POINTS[right - 1]) / (trees.POINTS[right] - trees.POINTS[right - 1])
    return round(table[right - 1] + share * (table[right] - table[right - 1]))


def bodies(words: Source, count: int = BODIES) -> Iterator[str]:
    """Draw bodies, each as long as the document that it is drawn from."""
    rng = random.Random(SEED + 1)  # noqa: S311 - filler, not secrets
    for number in range(count):
        document = words.documents[number % len(words.documents)]
        size = min(len(document), 20_000)
        own = rng.choices(document, k=size - int(size * SHARE_OF_ALL))
        text = own + rng.choices(words.all_words, k=int(size * SHARE_OF_ALL))
        rng.shuffle(text)
        yield " ".join(text)


def skills(words: Source, count: int, first: int = 0, bodies_made: int = BODIES) -> Iterator[Skill]:
    """Draw the names and descriptions of skills; the first ones of every size are the same."""
    for number in range(first, count):
        rng = random.Random(SEED * 1_000_003 + number)  # noqa: S311 - filler, not secrets
        body = rng.randrange(bodies_made)
        title = words.titles[body % len(words.titles)]
        other = rng.choices(words.all_words, k=max(len(title) // 5, 2))
        text = rng.choices(title, k=len(title)) + other
        rng.shuffle(text)
        plain = [word for word in text if word.isascii() and word.isalnum()][:3] or ["skill"]
        name = f"{'-'.join(plain)[:50]}-{number:x}"
        yield Skill(number, rng.randrange(SPACES), name, " ".join(text)[:1000], body)


def queries(words: Source, size: int, count: int, seed: int = SEED) -> list[str]:
    """Ask as people do: a word or a few of what a skill says of itself, or of what it says inside."""
    rng = random.Random(seed)  # noqa: S311 - filler, not secrets
    found = []
    for _ in range(count):
        number = rng.randrange(size)
        skill = next(skills(words, number + 1, number))
        kind = rng.random()
        if kind < 0.35:
            text = skill.name.rpartition("-")[0].split("-")
        elif kind < 0.75:
            text = skill.description.split()
        elif kind < 0.95:
            text = words.documents[skill.body % len(words.documents)]
        else:  # a whole sentence, as a model asks
            found.append(" ".join(rng.choices(skill.description.split(), k=9)))
            continue
        found.append(" ".join(rng.choices(text, k=rng.choice((1, 1, 2, 2, 2, 3)))))
    return found
