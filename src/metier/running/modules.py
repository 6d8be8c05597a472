"""Code skills that are loaded into this process: kept by digest, and let go of when they change or go (CO-5, decision 20)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from metier.execute import answers
from metier.running.loaded.proc import Loaded

if TYPE_CHECKING:
    from metier.app import Library
    from metier.execute.gate import Gated
    from metier.model import Change, Trust
    from metier.runs import Call

LEVELS = frozenset({"builtin", "trusted"})
"""Levels that may be run in this process at all, whatever configuration says."""
MOST = 64
"""Modules that are kept; the one that was called longest ago goes first."""


class Told(NamedTuple):
    """What a skill in this process gave, and what it printed."""

    answer: answers.Answer
    output: str


def may_be_here(library: Library, level: Trust) -> bool:
    """Tell whether a skill of this level runs in this process: it is one of two levels, and the user names it."""
    return level in LEVELS and level in library.settings.run.in_process


class Modules:
    """The modules of one library."""

    def __init__(self, library: Library) -> None:
        """Begin with none, and hear of every change."""
        self._kept: dict[str, Loaded] = {}
        self._digests: dict[str, str] = {}
        """Which digest each skill had when it was last called, by path."""
        library.dropped.append(self.changed)

    def get(self, path: str, gated: Gated) -> Loaded:
        """Give the module of these very bytes, made anew where there is none; what the same file was before is let go of."""
        if self._digests.get(path, gated.digest) != gated.digest:
            self.drop(path)
        found = self._kept.pop(gated.digest, None) or Loaded(gated.data, path)
        self._kept[gated.digest] = found
        self._digests[path] = gated.digest
        for digest in list(self._kept)[: max(0, len(self._kept) - MOST)]:
            del self._kept[digest]
        return found

    def drop(self, path: str) -> None:
        """Let go of what a file was, unless another file has the same bytes."""
        digest = self._digests.pop(path, "")
        if digest and digest not in self._digests.values():
            self._kept.pop(digest, None)

    def changed(self, change: Change) -> None:
        """Let go of every skill that is not as it was, or not there any more."""
        for path in (*change.changed, *change.removed):
            self.drop(path)

    def __len__(self) -> int:
        """Count the modules that are kept."""
        return len(self._kept)


def modules_of(library: Library) -> Modules:
    """Give the one table of a library. It belongs to this module alone, so it is no part of what a library says of itself."""
    kept = vars(library)
    found = kept["_modules"] if "_modules" in kept else kept.setdefault("_modules", Modules(library))
    assert isinstance(found, Modules)
    return found


def call(library: Library, path: str, gated: Gated, asked: Call, seconds: int) -> Told | None:
    """Call a skill in this process; give its answer, or nothing when it took too long and goes on by itself."""
    with library.alone:  # as whoever lets go of modules has it
        module = modules_of(library).get(path, gated)
    given = module.call(asked.task, asked.context, seconds)
    if given is None:
        return None
    answer, output = given
    report = json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace")
    return Told(answers.read_answer(report), output)
