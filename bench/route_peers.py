"""The other ways to find a skill, each in a process of its own, asked in turn with metier: a slow
spell touches all alike.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import measure
import peers
from peers import Broken, Peer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from route_data import Query, Skill

BENCH = peers.BENCH
TABLE = {
    "rank-bm25": Peer("rank-bm25", "0.2.2", "pypi", "name, description and body as one text"),
    "tantivy": Peer(
        "tantivy", "0.27.0", "pypi", "name, description and body as a stemmed field each, summed"
    ),
    "skillport": Peer(
        "skillport-mcp",
        "1.1.2",
        "pypi",
        "its server's search, without an embedder",
        needs=("lancedb==0.26.0", "tantivy==0.25.1"),
    ),
}


class Answers(NamedTuple):
    """What one subject said: how long it took to get ready, its index's size, and of each query the
    names and all times.
    """

    seconds: float
    bytes: int
    names: list[list[str]]
    times: list[list[float]]
    """By round, then by query."""
    peak: int
    """The most memory that the process had, in kB; of metier only."""


def write_pool(skills: Sequence[Skill], file: Path) -> Path:
    """Write a pool as the drivers read it."""
    with file.open("w", encoding="utf-8") as out:
        for skill in skills:
            out.write(
                json.dumps(
                    {"name": skill.name, "description": skill.description, "body": skill.body}
                )
                + "\n"
            )
    return file


def peer_command(name: str, pool: Path, tree: Path, scratch: Path) -> list[str]:
    """Install a peer where it is not there; give the command that answers queries with it."""
    peer = TABLE[name]
    peers.install(peer)
    driver = BENCH / "drivers" / f"find_{name.replace('-', '_')}.py"
    return [
        str(peers.PEERS / peer.name / "bin/python"),
        str(driver),
        str(pool),
        str(tree),
        str(scratch / f"{name}-index"),
    ]


def our_command(
    tree: Path, home: Path, config: Path, which: Literal["find", "engine"]
) -> list[str]:
    """Give the command that answers queries with metier."""
    return [
        sys.executable,
        str(BENCH / "drivers/find_metier.py"),
        str(tree),
        str(home),
        str(config),
        which,
    ]


class Subject:
    """A process that answers queries."""

    def __init__(self, command: Sequence[str], home: str) -> None:
        """Start it, and wait until it is ready."""
        self.said = tempfile.TemporaryFile("w+")  # noqa: SIM115 - as long as the process is there
        self.child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.said,
            text=True,
            env=measure.environment(home),
            cwd=home,
        )
        self.ready = self._line()

    def ask(self, text: str) -> dict[str, Any]:
        """Put one query."""
        assert self.child.stdin is not None
        with suppress(BrokenPipeError):  # what it said last tells why
            self.child.stdin.write(json.dumps(text) + "\n")
            self.child.stdin.flush()
        return self._line()

    def _line(self) -> dict[str, Any]:
        assert self.child.stdout is not None
        while not (line := self.child.stdout.readline()).startswith("{"):
            if not line:
                code = self.child.wait()
                self.said.seek(0)
                last = (self.said.read().strip().splitlines() or ["no message"])[-1]
                message = f"{self.child.args!r} stopped with {code}: {last}"
                raise Broken(message)
        answer: dict[str, Any] = json.loads(line)
        return answer

    def end(self) -> None:
        """Let it go."""
        self.child.communicate()
        self.said.close()


def answers(
    commands: Mapping[str, Sequence[str]], queries: Sequence[Query], home: str, rounds: int
) -> dict[str, Answers]:
    """Put every query to every subject in turn, in so many rounds, after one query that is not
    measured.
    """
    subjects = {name: Subject(command, home) for name, command in commands.items()}
    said: dict[str, list[list[dict[str, Any]]]] = {name: [] for name in subjects}
    for one in subjects.values():
        one.ask(queries[0].text)
    for _ in range(rounds):
        for rows in said.values():
            rows.append([])
        for query in queries:
            for name, one in subjects.items():
                said[name][-1].append(one.ask(query.text))
    for one in subjects.values():
        one.end()
    return {name: _answers(one.ready, said[name]) for name, one in subjects.items()}


def _answers(ready: dict[str, Any], said: list[list[dict[str, Any]]]) -> Answers:
    names, peak = (
        [row["names"] for row in said[0]],
        max(row.get("peak", 0) for rows in said for row in rows),
    )
    return Answers(
        ready["seconds"],
        ready["bytes"],
        names,
        [[row["seconds"] for row in rows] for rows in said],
        peak,
    )
