"""Everything that can go wrong with an operation, in one tree.

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


class MetierError(Exception):
    """An operation failed; `code` is stable, `message` says what and where, `hint` says what next."""

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

    def as_dict(self) -> dict[str, object]:
        """Give the shape that every door reports."""
        return {"code": self.code, "message": self.message, "hint": self.hint, **self.details}


class UsageError(MetierError):
    """The command or call was put wrongly."""

    code = "usage"


class AmbiguousError(UsageError):
    """A plain name means several skills, and the policy refuses to choose."""

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
    """Content is not what was promised."""

    code = "integrity"
    exit_code = 1


class SourceError(MetierError):
    """A remote or local source failed."""

    code = "source"


class StoreError(MetierError):
    """Metier's own files cannot be read or written."""

    code = "store"


class SandboxError(MetierError):
    """There is no sandbox, or it broke."""

    code = "sandbox"


class ConfigError(MetierError):
    """A configuration file is wrong."""

    code = "config"
