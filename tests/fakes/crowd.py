"""Many processes that do whatever comes to their mind to one project, and a judge of what is left in the end.

Not a test: a scenario runs it for some operations, and the benchmark for a minute.
"""

from __future__ import annotations

import collections
import hashlib
import json
import os
import random
import subprocess
import time
from typing import TYPE_CHECKING, NamedTuple

from fakes.breaking import LINES, QuickHands, document
from fakes.hands import FaultyHands, in_a_child
from fakes.repositories import WHO, environment

import metier
from metier.errors import MetierError
from metier.store.io.atomic_change import state_of
from metier.supply import places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from metier.library import Library

NAMES = ("ash", "birch", "cedar", "elm")
VERSIONS = 4
LATEST_STEP = 120
"""A process that is to be killed is, within so many steps."""


class Said(NamedTuple):
    """What one process tells in the end."""

    done: dict[str, int]
    """How often each operation went through."""
    errors: dict[str, int]
    """How often each error was told."""
    edits: list[tuple[str, str]]
    """Each file that was put into a working copy: its name, and what it says."""
    wrong: list[str]
    """What was raised that is none of metier's errors."""


class Crowd:
    """A source with several versions, a project, and who works on it."""

    def __init__(self, folder: Path) -> None:
        """Make the source and the project."""
        self.folder, self.project, self.source = folder, folder / "project", folder / "source"
        for path in (self.project / ".git", self.source, folder / "home", folder / "desks"):
            path.mkdir(parents=True)
        self._git("init", "-q", "-b", "main")
        self.commits = [self._commit(number) for number in range(VERSIONS)]
        self._publish(self.commits[0])

    def _commit(self, number: int) -> str:
        for at, name in enumerate(NAMES):
            file = self.source / "skills" / name / "SKILL.md"
            file.parent.mkdir(parents=True, exist_ok=True)
            line = f"Line {1 + (number + at) % 12} of"
            file.write_text(document(name, LINES.replace(line, f"Version {number}: {line}")))
            (file.parent / f"more{number % 2}.md").write_text(f"More, {number}.\n")
        self._git("add", "-A")
        self._git("commit", "-q", "-m", "a version")
        return self._git("rev-parse", "HEAD").strip()

    def _publish(self, commit: str) -> None:
        self._git("update-ref", "refs/heads/main", commit)

    def _git(self, *words: str) -> str:
        env = {**environment(self.folder / "home"), **WHO}
        return subprocess.run(
            ["git", *words], cwd=self.source, env=env, check=True, capture_output=True, text=True
        ).stdout

    def library(self, hands: FaultyHands | None = None) -> Library:
        """Open the library of the project."""
        env = {
            **environment(self.folder / "home"),
            "METIER_HOME": str(self.folder / "data"),
            "METIER_SCAN_MODEL": "off",
            "METIER_BACKGROUND": "off",
        }
        opened = metier.open(cwd=str(self.project), env=env)
        opened.context.disk_calls = hands or QuickHands()
        return opened

    # --- one of the crowd

    def work(self, number: int, seed: int, operations: int = 0, seconds: float = 0) -> Said:
        """Do so many operations, or go on for so long."""
        chance = random.Random(f"{seed}/{number}")  # noqa: S311 - the same each time
        said = Said(collections.Counter(), collections.Counter(), [], [])
        until, count = time.monotonic() + seconds, 0
        while (count < operations) if operations else (time.monotonic() < until):
            count += 1
            self._once(chance, said, f"{number}-{count}")
        return said

    def _once(self, chance: random.Random, said: Said, mark: str) -> None:
        what = chance.choice(
            (
                "add",
                "add",
                "update",
                "update",
                "sync",
                "remove",
                "rollback",
                "edit",
                "edit",
                "edit",
                "publish",
                "die",
            )
        )
        name = chance.choice(NAMES)
        try:
            if what == "publish":
                self._publish(chance.choice(self.commits))
            elif what == "edit":
                said.edits.extend(self._edited(chance, name, mark))
            elif what == "die":
                act, at = (
                    self._act(
                        chance.choice(("add", "update", "sync", "remove", "rollback")), chance, name
                    ),
                    chance.randint(1, LATEST_STEP),
                )
                in_a_child(lambda: self._with(FaultyHands(at, "SIGKILL", inner=QuickHands()), act))
            else:
                self._with(None, self._act(what, chance, name))
            said.done[what] = said.done.get(what, 0) + 1
        except MetierError as error:
            said.errors[error.code] = said.errors.get(error.code, 0) + 1
        except subprocess.CalledProcessError:
            pass  # git itself would not: two publish at once
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            said.wrong.append(f"{what} {name}: {error!r}")

    def _with(self, hands: FaultyHands | None, act: Callable[[Library], object]) -> None:
        with self.library(hands) as library:
            act(library)

    def _act(self, what: str, chance: random.Random, name: str) -> Callable[[Library], object]:
        force, every, to = (
            chance.random() < 0.3,
            chance.random() < 0.3,
            chance.choice(((), ("claude-code",))),
        )
        if what == "add":
            source = f"git+file://{self.source}"
            return lambda library: library.add(
                source, skills=() if every else (name,), all=every, to=to, force=force
            )
        if what == "update":
            return lambda library: library.update(() if every else name, consent=lambda _plan: True)
        if what == "remove":
            return lambda library: library.remove(name, force=force)
        if what == "rollback":
            return lambda library: library.rollback(name)
        return lambda library: library.sync()

    def _edited(self, chance: random.Random, name: str, mark: str) -> Iterator[tuple[str, str]]:
        """Put a file of one's own into a working copy, in one step as editors do, where there is one."""
        text, file = f"{mark} {chance.random()}\n", f"note-{mark}.md"
        desk = self.folder / "desks" / file
        desk.write_text(text)
        try:
            os.rename(desk, self.project / ".agents" / "skills" / name / file)
        except OSError:
            desk.unlink()
        else:
            yield file, text

    # --- afterwards

    def wrong(self, said: list[Said]) -> list[str]:
        """Say what is not as it must be when all have gone home."""
        found = [text for one in said for text in one.wrong]
        with self.library() as library:
            first = library.sync()
        with self.library() as library:
            frozen, audit = library.sync(frozen=True), library.audit_verify()
            found += (
                []
                if frozen.ok
                else [f"the lock and the disk do not agree: {first.drift} {frozen.drift}"]
            )
            found += [] if audit.ok else [f"the audit log does not hold: {audit.reason}"]
            found += self._differing(library)
            found += self._unsound(library)
            found += self._lost(library, [edit for one in said for edit in one.edits])
        return found + [f"left behind: {path}" for path in self._left()]

    def _differing(self, library: Library) -> Iterator[str]:
        for pin in places.read(places.place_of(library.context, user=False)).lock.pins:
            if state_of(str(self.project / pin.targets[0].path)) != pin.digest:
                yield f"{pin.name} is not what the lock has"

    def _unsound(self, library: Library) -> Iterator[str]:
        store = places.store_of(library.context)
        for digest in store.digests():
            for file in store.files(digest):
                if hashlib.sha256(store.read(digest, file.path)).digest() != file.sha256:
                    yield f"{file.path} of {digest} is damaged"

    def _lost(self, library: Library, edits: list[tuple[str, str]]) -> Iterator[str]:
        store = places.store_of(library.context)
        kept = {
            (file.path, file.sha256) for digest in store.digests() for file in store.files(digest)
        }
        for file, text in edits:
            here = any(
                (self.project / ".agents" / "skills" / name / file).exists() for name in NAMES
            )
            if not here and (file, hashlib.sha256(text.encode()).digest()) not in kept:
                yield f"an edit is lost: {file}"

    def _left(self) -> list[Path]:
        data = self.folder / "data"
        found = [path for path in self.project.rglob("*") if path.name.startswith(".metier-")]
        found += [path for path in (data / "staging").glob("*") if path.name != ".lock"]
        return found + [
            path
            for path in (data / "supply").glob("*")
            if path.suffix in {".tmp", ".damaged"} or path.name == "journal.json"
        ]


def crowded(
    crowd: Crowd, processes: int, seed: int, operations: int = 0, seconds: float = 0
) -> list[Said]:
    """Let so many processes work at the same time, and hear what each says."""
    children = []
    for number in range(processes):
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            code = 1
            try:
                os.close(reader)
                told = json.dumps(crowd.work(number, seed, operations, seconds)).encode()
                with os.fdopen(writer, "wb") as pipe:
                    pipe.write(told)
                code = 0
            finally:
                os._exit(code)
        os.close(writer)
        children.append((child, reader))
    found = []
    for child, reader in children:
        with os.fdopen(reader, "rb") as pipe:
            told = pipe.read()
        os.waitpid(child, 0)
        done, errors, edits, wrong = (
            json.loads(told) if told else ({}, {}, [], ["a process ended without a word"])
        )
        found.append(Said(done, errors, [(file, text) for file, text in edits], wrong))
    return found
