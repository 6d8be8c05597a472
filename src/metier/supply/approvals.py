"""The log of a hub's approvals, as everybody reads it who has a copy: each entry is chained to the one
before it by its hash, and the hub signs where it ends. Pure.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import IntegrityError
from metier.trust.sign import Unverified, verify_detached

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

HEAD_TYPE = "application/vnd.metier.approvals+json"
"""What the signature of a log's head is about."""
MISMATCH = (
    "the hub, or whoever is in between, does not give what was approved. Nothing was installed"
)
STATES: Mapping[str, str] = {"approve": "approved", "unyank": "approved", "yank": "yanked"}
"""The state that a release has after an entry about it."""


class LogEntry(NamedTuple):
    """One entry, and where it stands."""

    number: int
    entry: str
    """Canonical JSON: sorted keys, no spaces."""
    previous: str
    hash: str


class LogCopy(NamedTuple):
    """A namespace's log of approvals, whole or from some entry on, with the hub's signature of its
    head.
    """

    entries: tuple[LogEntry, ...]
    signature: str


class SeenHead(NamedTuple):
    """Where a log ended when it was looked at."""

    size: int
    hash: str


def canonical(value: dict[str, Any]) -> str:
    """Write a table so that everybody gets the same text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def hash_of(previous: str, entry: str) -> str:
    """Chain an entry to what was before it."""
    return hashlib.sha256(f"{previous}\n{entry}".encode("utf-8", "replace")).hexdigest()


def head_statement(namespace: str, head: LogEntry) -> bytes:
    """Give what the hub signs of a log: how long it is, and its last hash."""
    return canonical({"namespace": namespace, "size": head.number, "head": head.hash}).encode()


def first_broken(entries: Iterable[LogEntry], previous: str = "", number: int = 0) -> int:
    """Give the number of the first entry that does not follow from the one before it; 0 where all
    do.
    """
    for one in entries:
        number += 1
        if (
            one.number != number
            or one.previous != previous
            or one.hash != hash_of(previous, one.entry)
        ):
            return number
        previous = one.hash
    return 0


def is_signed(namespace: str, log: LogCopy, key: bytes) -> bool:
    """Tell whether the hub signed that its log ends as this copy does."""
    head = log.entries[-1] if log.entries else LogEntry(0, "", "", "")
    told = log.signature.encode("utf-8", "replace")
    signed = verify_detached(HEAD_TYPE, head_statement(namespace, head), told, [key])
    return not isinstance(signed, Unverified)


def said_in(entry: str) -> dict[str, Any]:
    """Give what an entry says; nothing where it cannot be read."""
    try:
        found = json.loads(entry)
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {}


def prove_entry(
    namespace: str, log: LogCopy, key: bytes, entry: LogEntry, known: SeenHead | None
) -> SeenHead:
    """Give where a log ends that has an entry; refuse one that does not hang together from there on,
    that the hub did not sign, that is not what was seen before with something added, or that says
    something else by now than the entry does.
    """
    if not log.entries or not _hangs_together(log.entries) or not is_signed(namespace, log, key):
        raise _proves_nothing(namespace)
    here = {one.number: one for one in log.entries}
    if known is not None and (known.size not in here or here[known.size].hash != known.hash):
        raise IntegrityError(
            f"the hub's log of approvals of {namespace} is not the one that you saw before: its past "
            "was changed",
            code="hub-log",
            hint="ask the hub's admins why. Then: metier login URL --accept-log",
        )
    if here.get(entry.number) != entry:
        raise _proves_nothing(namespace)
    if _is_over(log.entries, entry):
        raise _proves_nothing(namespace)
    last = log.entries[-1]
    return SeenHead(last.number, last.hash)


def _hangs_together(entries: tuple[LogEntry, ...]) -> bool:
    """Tell whether each entry follows from the one before, and the very first one from nothing."""
    first = entries[0]
    anchored = first.number > 1 or (first.number == 1 and not first.previous)
    return anchored and not first_broken(entries, first.previous, first.number - 1)


def _is_over(entries: tuple[LogEntry, ...], entry: LogEntry) -> bool:
    """Tell whether the newest of the later entries about the same release says another state of it."""
    then = said_in(entry.entry)
    for one in reversed(entries[entry.number + 1 - entries[0].number :]):
        now = said_in(one.entry)
        state = STATES.get(str(now.get("what")))
        if state and all(now.get(name) == then.get(name) for name in ("name", "version")):
            return state != STATES.get(str(then.get("what")))
    return False


def _proves_nothing(namespace: str) -> IntegrityError:
    return IntegrityError(
        f"the hub's log of approvals of {namespace} does not prove what the hub says",
        code="digest",
        hint=MISMATCH,
    )
