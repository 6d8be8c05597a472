"""The pool of skills and the queries that finding is measured on: read as data, laid out as
folders, and varied into larger pools.

An archive (or a folder) holds `pool.jsonl` (id, name, description, body) and `queries-dev.jsonl`
(id, set, query, gold). What is made from it lies in a temporary folder: the texts are other
people's.
"""

from __future__ import annotations

import json
import os
import random
import tarfile
from typing import TYPE_CHECKING, NamedTuple

from metier.find.model import SkillText

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

POOL, QUERIES = "pool.jsonl", "queries-dev.jsonl"
SEED = 1
CHANGED = 40
"""One in so many words of a copy is another one."""
FEW_WORDS = 2
"""Words that are changed in the shortest text."""


class Skill(NamedTuple):
    """One skill of a pool."""

    id: str
    name: str
    description: str
    body: str
    origin: int
    """Where it stands in the pool that was read, or what it is a copy of does."""

    @property
    def size(self) -> int:
        """How many bytes its text has."""
        return len(f"{self.name}{self.description}{self.body}".encode())


class Query(NamedTuple):
    """What somebody asks for, and the names that would be right."""

    id: str
    set: str
    text: str
    gold: tuple[str, ...]


class Data(NamedTuple):
    """What is measured on."""

    skills: list[Skill]
    queries: list[Query]


def read(source: Path, scratch: Path) -> Data:
    """Read a pool and its queries from an archive or a folder."""
    folder = source
    if not source.is_dir():
        folder = scratch / "data"
        with tarfile.open(source) as archive:
            for member in archive.getmembers():
                member.name = os.path.basename(
                    member.name
                )  # two plain files, wherever they lie in the archive
                if member.name in {POOL, QUERIES}:
                    archive.extract(member, folder, filter="data")
    skills = [
        Skill(row["id"], row["name"], row["description"], row["body"], at)
        for at, row in enumerate(_rows(folder / POOL))
    ]
    queries = [
        Query(row["id"], row["set"], row["query"], tuple(row["gold"]))
        for row in _rows(folder / QUERIES)
    ]
    return Data(skills, queries)


def _rows(file: Path) -> Iterator[dict[str, str]]:
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def few(data: Data, count: int) -> Data:
    """Give a small pool: the skills that queries ask for first, and some others, in their order."""
    wanted = {name for query in data.queries for name in query.gold}
    first = [skill.origin for skill in data.skills if skill.name in wanted][:count]
    others = [skill.origin for skill in data.skills if skill.name not in wanted]
    chosen = sorted([*first, *random.Random(SEED).sample(others, count - len(first))])  # noqa: S311 - a sample, not a secret
    names = {data.skills[at].name for at in chosen}
    return Data(
        [data.skills[at] for at in chosen],
        [query for query in data.queries if names.issuperset(query.gold)],
    )


def sized(skills: Sequence[Skill], count: int) -> list[Skill]:
    """Give a pool of any size: some of the skills, or all of them and copies under other names with
    some words changed.
    """
    chance = random.Random(SEED)  # noqa: S311 - filler, not secrets
    if count <= len(skills):
        return [skills[at] for at in sorted(chance.sample(range(len(skills)), count))]
    words = [
        word
        for skill in skills[:: max(len(skills) // 2_000, 1)]
        for word in skill.body.split()[:200]
    ]
    parts = [part for skill in skills for part in skill.name.split("-") if len(part) > 2]
    found = list(skills)
    while len(found) < count:
        found.append(_copy(skills[len(found) % len(skills)], len(found), words, parts, chance))
    return found


def _copy(
    skill: Skill, number: int, words: Sequence[str], parts: Sequence[str], chance: random.Random
) -> Skill:
    name = f"{skill.name[:48]}-{chance.choice(parts)}-{number:x}"
    description, body = (_changed(text, words, chance) for text in (skill.description, skill.body))
    return Skill(f"{skill.id}-{number:x}", name, description, body, skill.origin)


def _changed(text: str, words: Sequence[str], chance: random.Random) -> str:
    there = text.split(" ")
    for _ in range(max(len(there) // CHANGED, FEW_WORDS)):
        there[int(chance.random() * len(there))] = words[int(chance.random() * len(words))]
    return " ".join(there)


def lay_out(skills: Sequence[Skill], root: Path) -> Path:
    """Write each skill into a folder of its own, for names repeat; what is there already stays."""
    done = root.with_suffix(".done")
    if not done.exists():
        root.mkdir(parents=True, exist_ok=True)
        for skill in skills:
            folder = f"{root}/{skill.id}"
            os.makedirs(folder, exist_ok=True)
            with open(f"{folder}/SKILL.md", "w", encoding="utf-8", newline="") as file:
                file.write(document(skill))
        done.touch()
    return root


def document(skill: Skill) -> str:
    """Give a skill as a SKILL.md: what JSON quotes, YAML reads."""
    name, description = (
        json.dumps(text, ensure_ascii=False) for text in (skill.name, skill.description)
    )
    return f"---\nname: {name}\ndescription: {description}\n---\n{skill.body}"


def texts(
    skills: Sequence[Skill], *, description: bool = True, body: bool = True
) -> Iterator[SkillText]:
    """Give skills as an engine is told of them, with all that they may be found by or only a part
    of it.
    """
    for skill in skills:
        yield SkillText(
            skill.id,
            b"",
            skill.name,
            skill.description if description else "",
            (),
            (),
            skill.body if body else "",
        )
