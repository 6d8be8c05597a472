"""Code skills that are loaded into this process: kept by digest, and let go of when they change or
go (CO-5, MT-20).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from metier.run import answers
from metier.run.io.code_skill import LoadedCode

if TYPE_CHECKING:
    from metier.context import Context
    from metier.model import Change, Trust
    from metier.run.admit import Admitted, Gated
    from metier.run.model import CodeCall
    from metier.trust.decide import Usable

IN_PROCESS_LEVELS = frozenset({"builtin", "own", "trusted"})
"""Levels that may be run in this process at all, whatever configuration says."""
MAX_MODULES = 64
"""Modules that are kept; the one that was called longest ago goes first."""


def may_be_here(context: Context, level: Trust) -> bool:
    """Tell whether a skill of this level runs in this process: it is one of three levels, and the
    user names it. Where nothing may have the network, nothing does: only a sandbox can hold it back.
    """
    run = context.settings.run
    return level in IN_PROCESS_LEVELS and level in run.in_process and run.network != "none"


class CodeModules:
    """The modules of one library."""

    def __init__(self, context: Context) -> None:
        """Begin with none, and hear of every change."""
        self._kept: dict[str, LoadedCode] = {}
        self._digests: dict[str, str] = {}
        """Which digest each skill had when it was last called, by path."""
        context.on_change.append(self.changed)

    def get(self, path: str, gated: Gated) -> LoadedCode:
        """Give the module of these very bytes, made anew where there is none; what the same file
        was before is let go of.
        """
        if self._digests.get(path, gated.digest) != gated.digest:
            self.drop(path)
        found = self._kept.pop(gated.digest, None) or LoadedCode(gated.data, path)
        self._kept[gated.digest] = found
        self._digests[path] = gated.digest
        for digest in list(self._kept)[: max(0, len(self._kept) - MAX_MODULES)]:
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


def modules_of(context: Context) -> CodeModules:
    """Give the one table of a library."""
    if context.code_modules is None:
        with context.lock:
            if context.code_modules is None:  # one that is empty counts as none by itself
                context.code_modules = CodeModules(context)
    return context.code_modules


def call(
    context: Context, permitted: Usable[Admitted], asked: CodeCall, seconds: int
) -> tuple[answers.CodeAnswer, str] | None:
    """Call a skill in this process; give its answer and what it printed, or nothing when it took
    too long and goes on by itself.
    """
    with context.lock:  # as whoever lets go of modules has it
        module = modules_of(context).get(permitted.candidate.card.path, permitted.candidate.gated)
    given = module.call(asked.task, asked.context, seconds)
    if given is None:
        return None
    answer, output = given
    report = json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace")
    return answers.read_answer(report), output
