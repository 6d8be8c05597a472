"""Defines every error that an operation can raise, in one tree, and finds the nearest known word
for a hint.

MetierError
├── UsageError       the command or call was put wrongly
│   └── AmbiguousError   a plain name means several skills, and the policy refuses to choose
├── NotFoundError    the named thing does not exist
├── RefusedError     a rule forbids it
├── IntegrityError   content is not what was promised
├── SourceError      a remote or local source failed
├── StoreError       metier's own files cannot be read or written
├── SandboxError     no sandbox, or it broke
└── ConfigError      a configuration file is wrong

What is wrong with *a skill* is never an exception: it is a `Diagnostic` on that skill's row.
"""

from __future__ import annotations

from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self


class MetierError(Exception):
    """An operation failed; `code` is stable, `message` says what and where, `hint` says what
    next.
    """

    code = "error"
    exit_code = 2

    def __init__(self, message: str, *, hint: str = "", code: str | None = None) -> None:
        """Keep the three parts apart, so that each door can lay them out its own way."""
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details: dict[str, object] = {}
        if code is not None:
            self.code = code

    def with_details(self, **details: object) -> Self:
        """Add what a program may want to know besides; every door reports it under these names."""
        self.details.update(details)
        return self

    def as_dict(self) -> dict[str, object]:
        """Give the shape that every door reports."""
        return {"code": self.code, "message": self.message, "hint": self.hint, **self.details}


class UsageError(MetierError):
    """The command or call is wrong."""

    code = "usage"


class AmbiguousError(UsageError):
    """A name matches several skills, and the policy refuses to choose."""

    code = "ambiguous"
    exit_code = 1


class NotFoundError(MetierError):
    """The named thing does not exist."""

    code = "not-found"
    exit_code = 1


class RefusedError(MetierError):
    """A rule forbids it."""

    code = "refused"
    exit_code = 1


class IntegrityError(MetierError):
    """The content is not what was expected."""

    code = "integrity"
    exit_code = 1


class SourceError(MetierError):
    """A remote or local source failed."""

    code = "source"


class StoreError(MetierError):
    """metier's own files can't be read or written."""

    code = "store"


class SandboxError(MetierError):
    """There is no sandbox, or it failed."""

    code = "sandbox"


class ConfigError(MetierError):
    """A configuration file is wrong."""

    code = "config"


def closest(word: str, known: Iterable[str]) -> str:
    """Give the known word that takes the fewest slips of the finger to become `word`; nothing when
    it takes too many.
    """
    bare = word.lower().strip("-")
    fewest, best = min(
        ((slips(bare, one.lower().strip("-")), one) for one in known), default=(len(bare), "")
    )
    return best if fewest <= max(1, len(bare) // 3) else ""


def slips(typed: str, meant: str, most: int | None = None) -> int:
    """Count letters left out, added, changed or swapped with their neighbour; above `most`, it is
    not told by how many.
    """
    before: list[int] = []
    row = list(range(len(meant) + 1))
    for at, letter in enumerate(typed, 1):
        previous = before
        before = row
        row = [at]
        for to, wanted in enumerate(meant, 1):
            best = min(before[to] + 1, row[to - 1] + 1, before[to - 1] + (letter != wanted))
            if at > 1 and to > 1 and letter == meant[to - 2] and typed[at - 2] == wanted:
                best = min(best, previous[to - 2] + 1)
            row.append(best)
        if most is not None and min(row) > most:
            return most + 1
    return row[-1] if most is None else min(row[-1], most + 1)
