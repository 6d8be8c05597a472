"""A library that never rests, for `soak.py`: somebody edits, adds and removes skills, and knows
what lies there since when.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

import supply_data

if TYPE_CHECKING:
    from pathlib import Path

NAME = "soak-{:05d}"
GUIDE, SCRIPT = "references/guide.md", "scripts/run.py"
TEXT = """---
name: {name}
description: {description}
---

# {name}

Revision {revision}.

{body}

See [the guide](references/guide.md).
"""


class Known(NamedTuple):
    """What is known of one skill: its revision, 0 when it is gone, and when it was last touched."""

    revision: int
    touched: float


class Unrest:
    """A folder of skills and the thread that changes it."""

    def __init__(self, root: Path, skills: int, every: float, seed: int = 1) -> None:
        """Write the first skills."""
        self.root, self.every = root, every
        self.aside = root.parent / "aside"
        self.changes = {"edit": 0, "add": 0, "remove": 0}
        self._rng = random.Random(seed)  # noqa: S311 - filler, no secrets
        self._known: dict[str, Known] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="writer", daemon=True)
        self._number = 0
        self._least, self._most = skills * 9 // 10, skills * 11 // 10
        root.mkdir(parents=True)
        self.aside.mkdir()
        for _ in range(skills):
            self._add()

    def begin(self) -> None:
        """Start to change things."""
        self._thread.start()

    def rest(self) -> None:
        """Leave the library as it is."""
        self._stop.set()
        self._thread.join()

    # --- what is true

    def names(self) -> list[str]:
        """Give the skills that are there."""
        with self._lock:
            return [name for name, known in self._known.items() if known.revision]

    def known(self, name: str) -> Known | None:
        """Give what is known of a skill."""
        with self._lock:
            return self._known.get(name)

    def is_quiet(self, name: str, since: float) -> bool:
        """Tell whether nobody has touched a skill since then; one that never was has always been
        quiet.
        """
        known = self.known(name)
        return known is None or known.touched < since

    def hashes(self, name: str) -> dict[str, str]:
        """Hash the files of a skill as they lie on the disk."""
        found: dict[str, str] = {}
        for base, _folders, files in os.walk(self.root / name):
            for file in files:
                path = os.path.join(base, file)
                with open(path, "rb") as stream:
                    found[os.path.relpath(path, self.root / name)] = hashlib.sha256(
                        stream.read()
                    ).hexdigest()
        return found

    # --- what changes it

    def _work(self) -> None:
        while not self._stop.wait(self.every * self._rng.uniform(0.5, 1.5)):
            names = self.names()
            kind = self._rng.choices(("edit", "add", "remove"), (6, 2, 2))[0]
            if kind == "remove" and len(names) > self._least:
                self._remove(self._rng.choice(names))
            elif kind == "add" and len(names) < self._most:
                self._add()
            else:
                kind = "edit"
                self._edit(self._rng.choice(names))
            self.changes[kind] += 1

    def _touch(self, name: str, revision: int) -> None:
        with self._lock:
            self._known[name] = Known(revision, time.monotonic())

    def _add(self) -> None:
        """Put a skill in its place, whole."""
        self._number += 1
        name = NAME.format(self._number)
        made = self.aside / name
        for folder in ("references", "scripts"):
            (made / folder).mkdir(parents=True)
        self._write(made, name, 1)
        self._touch(name, 1)
        made.rename(self.root / name)
        self._touch(name, 1)

    def _write(self, folder: Path, name: str, revision: int) -> None:
        sentence, body = self._sentence(12), "\n\n".join(self._sentence(60) for _ in range(6))
        text = TEXT.format(
            name=name,
            description=f"{sentence} Use it for number {self._number}.",
            revision=revision,
            body=body,
        )
        (folder / "SKILL.md").write_text(text, encoding="utf-8")
        (folder / GUIDE).write_text(
            f"# Guide\n\nRevision {revision}.\n\n{self._sentence(80)}\n", encoding="utf-8"
        )
        script = supply_data.SCRIPT.format(
            sentence=sentence, word=self._rng.choice(supply_data.WORDS), number=revision
        )
        (folder / SCRIPT).write_text(script, encoding="utf-8")

    def _edit(self, name: str) -> None:
        """Change a skill: its text as editors do, by another file in its place, or one of its files
        where it lies.
        """
        known = self.known(name)
        assert known is not None
        self._touch(name, known.revision)
        if self._rng.random() < 0.3:
            with open(self.root / name / GUIDE, "a", encoding="utf-8") as file:
                file.write(f"\n{self._sentence(10)}\n")
            self._touch(name, known.revision)
            return
        path = self.root / name / "SKILL.md"
        text = path.read_text(encoding="utf-8").replace(
            f"Revision {known.revision}.", f"Revision {known.revision + 1}."
        )
        fresh = self.aside / f"{name}.md"
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(path)
        self._touch(name, known.revision + 1)

    def _remove(self, name: str) -> None:
        gone = self.aside / f"{name}-gone"
        self._touch(name, 0)
        (self.root / name).rename(gone)
        self._touch(name, 0)
        shutil.rmtree(gone)

    def _sentence(self, words: int) -> str:
        return " ".join(self._rng.choices(supply_data.WORDS, k=words)).capitalize() + "."
