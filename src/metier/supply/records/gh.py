"""The record of `gh skill`: the one of `npx skills` at home, with the ref that was pinned. Pure.

That tool also writes where a skill is from into the skill itself. Such words are read by nobody
here: they are part of the bytes, and metier changes no bytes.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from metier.supply.records import npx
from metier.supply.records.foreign import github_of, json_bytes

if TYPE_CHECKING:
    from metier.supply.model import Lock, Pin
    from metier.supply.records.foreign import ForeignSkill, Hashes

USER = npx.USER
LOSES = (
    *npx.LOSES,
    (
        "'gh skill' notes the source in the skill itself too; metier changes no skill and writes only "
        "the record"
    ),
)
_COMMIT = re.compile(r"[0-9a-f]{40}")

mark_user = npx.mark_user


def read(data: bytes) -> tuple[ForeignSkill, ...]:
    """Read the record; a pinned ref that is a commit is one."""
    return tuple(
        one._replace(commit=one.ref) if _COMMIT.fullmatch(one.ref) else one
        for one in npx.read(data)
    )


def carries(pin: Pin) -> str:
    """Say why a skill cannot be in such a record; nothing when it can."""
    return npx.carries(pin) or (
        "" if github_of(pin.source) else "that tool only knows repositories on GitHub"
    )


def write_user(lock: Lock, previous: bytes | None, now: str, marks: Hashes | None = None) -> bytes:
    """Write the record; what was asked for by tag or commit is pinned to it."""
    fitting = lock._replace(pins=tuple(pin for pin in lock.pins if not carries(pin)))
    found = json.loads(npx.write_user(fitting, previous, now, marks))
    for pin in fitting.pins:
        found["skills"][pin.name] |= (
            {"pinnedRef": pin.ref} if pin.ref and pin.ref == pin.commit else {}
        )
    return json_bytes(found, end="")
