"""Who holds a lock: what a process writes down about itself, and what others are told of it. Pure.

Only the name of the program and of the command are told, because whatever else is on a command line
may be a secret.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_HOLDER_BYTES = 1024
"""Of what is written down; more than this was not written by metier."""
METIER = "metier"
_GROUPS = frozenset({"plugin", "review", "trust", "lock", "secrets", "audit"})
"""Commands whose next word says what is done."""
_WITH_VALUE = frozenset({"-C", "--root", "--agent"})
"""Options that may come before a command, and have a word of their own."""
_COMMAND = re.compile(r"[a-z][a-z-]{0,30}", re.ASCII)
_MAX_WORD_CHARS = 60


class LockHolder(NamedTuple):
    """A process that holds a lock."""

    pid: int
    command: str
    since: float
    """Seconds since 1970."""
    host: str


def command_of(words: Sequence[str]) -> str:
    """Give the program of a command line, and the command where the program is metier; no argument
    of either.
    """
    *folders, program = (words[0] if words else "").replace("\\", "/").split("/")
    if program == "__main__.py" and folders and folders[-1] == METIER:
        program = METIER
    program = program.removesuffix(".exe")
    if program != METIER:
        return "python" if program in {"", "-", "-c", "-m"} else _plain(program)
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in _WITH_VALUE else 1
    # The command, and what a group of commands does; the lock is only held by real ones.
    found = words[at : at + (2 if words[at : at + 1] and words[at] in _GROUPS else 1)]
    return " ".join((METIER, *filter(_COMMAND.fullmatch, found)))


def write(holder: LockHolder) -> bytes:
    """Write a holder down, on one line."""
    return json.dumps(holder).encode("ascii") + b"\n"


def read(data: bytes) -> LockHolder | None:
    """Read who is written down; nothing where nobody is."""
    try:
        pid, command, since, host = json.loads(data)
        if type(pid) is int and 0 < pid < 1 << 32 and 0 <= float(since) < 1 << 36:
            return LockHolder(pid, _plain(str(command)), float(since), _plain(str(host)))
    except (ValueError, TypeError, RecursionError, OverflowError):
        pass
    return None


def describe(holder: LockHolder, since: str, here: str) -> str:
    """Name a holder to people; `since` is the time as they read it, and `here` the name of this
    machine.
    """
    where = f" on {holder.host}" if holder.host and holder.host != here else ""
    return f"{holder.command or 'a program'} (process {holder.pid}{where}, since {since})"


def _plain(text: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in text[:_MAX_WORD_CHARS])
