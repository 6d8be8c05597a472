"""This machine's own notes on one lock: revisions, updates that wait or did, bundled skills that were deleted. Pure.

They are kept below METIER_HOME and are never committed. A file that is not exactly as metier writes it is refused whole: what
it says decides which trees of the store are still needed.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.errors import StoreError
from metier.supplies import Revision

if TYPE_CHECKING:
    from collections.abc import Iterable

VERSION = 2
"""The first had neither what became of updates that waited, nor since when one does."""
MOST_BYTES = 64 * 1024 * 1024
STATUSES = ("published", "rejected", "superseded")
"""What may have become of an update that waited."""
MODES = ("unchanged", "already_applied", "fast_forward", "three_way")
"""How it may have stood to the edits (BE-13)."""
_FIRST = ("version", "lock", "revisions", "pending", "forgotten")
_KEYS = (*_FIRST, "reviewed")
_REVISION = tuple(field for field in Revision._fields if field != "number")


class Pending(NamedTuple):
    """An update that waits for a person: the three trees, and the folder where the merge is worked on."""

    name: str
    base: str
    ours: str
    theirs: str
    ref: str
    commit: str
    path: str
    """Where in the source it is now."""
    desk: str
    """The name of its folder among the desks; nothing where no file was laid out."""
    reasons: tuple[str, ...]
    at: str = ""
    """Since when; nothing where a first metier wrote it down."""


class Settled(NamedTuple):
    """What became of an update that waited. Its trees are not kept for this alone."""

    name: str
    base: str
    ours: str
    theirs: str
    commit: str
    path: str
    mode: str
    """How it stood to the edits: mostly `fast_forward` or `three_way`."""
    status: str
    """`published`, `rejected` or `superseded`."""
    since: str
    at: str
    reason: str
    """What was said about it."""
    replaced_by: str = ""
    """The id of the update that came in its place."""
    digest: str = ""
    """What was put in place."""


class State(NamedTuple):
    """All that is noted about a lock."""

    lock: str = ""
    """The lock that it is about."""
    revisions: tuple[Revision, ...] = ()
    """In the order they were made."""
    pending: tuple[Pending, ...] = ()
    forgotten: tuple[tuple[str, str], ...] = ()
    """Bundled skills that the user deleted, each with the fingerprint it had: they are not brought back (HE-46)."""
    reviewed: tuple[Settled, ...] = ()
    """In the order it was decided, one for each version of a skill."""


def read_state(data: bytes | None) -> State:
    """Read the notes; no file means that there are none yet."""
    if data is None:
        return State()
    try:
        return _state(data)
    except RecursionError:
        why = "it is nested too deeply"
    except (ValueError, KeyError) as error:
        why = str(error)[:200]
    raise StoreError(f"the notes on what was installed cannot be read: {why}", code="state",
                     hint="move the file away: revisions and waiting merges are forgotten; lock and skills stay")  # fmt: skip


def state_bytes(state: State) -> bytes:
    """Write the notes down, the same bytes for the same notes."""
    document = {
        "version": VERSION,
        "lock": state.lock,
        "revisions": [one._asdict() for one in state.revisions],
        "pending": [one._asdict() for one in sorted(state.pending)],
        "forgotten": [list(one) for one in sorted(state.forgotten)],
        "reviewed": [one._asdict() for one in state.reviewed],
    }
    return (json.dumps(document, indent=1) + "\n").encode("ascii")


def _state(data: bytes) -> State:
    if len(data) > MOST_BYTES:
        raise ValueError(f"the file is longer than {MOST_BYTES:,} bytes")
    document = json.loads(data.decode("utf-8"), object_pairs_hook=_once)
    if not isinstance(document, dict) or type(document.get("version")) is not int:
        raise ValueError("it does not say its version")
    if document["version"] > VERSION:
        raise ValueError("a newer metier wrote it; upgrade this one")
    keys = {1: _FIRST, VERSION: _KEYS}.get(document["version"], ())
    if set(document) != set(keys) or not isinstance(document["lock"], str):
        raise ValueError(f"it is not made of {', '.join(keys or _KEYS)}")
    pending = tuple(sorted(_pending(one, document["version"]) for one in _list(document["pending"])))
    if len({one.name for one in pending}) < len(pending):
        raise ValueError("two updates of one skill wait")
    reviewed = tuple(_settled(one) for one in _list(document.get("reviewed", [])))
    if len({(one.name, one.theirs) for one in reviewed}) < len(reviewed):
        raise ValueError("one update was decided twice")
    return State(document["lock"], tuple(_revision(one) for one in _list(document["revisions"])), pending,
                 tuple(sorted(_pair(one) for one in _list(document["forgotten"]))), reviewed)  # fmt: skip


def _revision(found: Any) -> Revision:
    number = found.get("number") if isinstance(found, dict) else None
    if type(number) is not int or number < 0:
        raise ValueError("a revision has no number")
    texts = _texts({key: value for key, value in found.items() if key != "number"}, _REVISION)
    return Revision(number=number, **texts)


def _pending(found: Any, version: int) -> Pending:
    reasons = found.get("reasons") if isinstance(found, dict) else None
    if not isinstance(reasons, list) or not all(isinstance(reason, str) for reason in reasons):
        raise ValueError("an update that waits does not say why")
    fields = [field for field in Pending._fields if field != "reasons" and (field != "at" or version > 1)]
    texts = _texts({key: value for key, value in found.items() if key != "reasons"}, fields)
    return Pending(reasons=tuple(reasons), **texts)


def _settled(found: Any) -> Settled:
    if not isinstance(found, dict) or found.get("status") not in STATUSES or found.get("mode") not in MODES:
        raise ValueError("an update that waited does not say what became of it")
    return Settled(**_texts(found, Settled._fields))


def _pair(found: Any) -> tuple[str, str]:
    if not isinstance(found, list) or len(found) != 2 or not all(isinstance(one, str) for one in found):
        raise ValueError("a deleted skill is not a name and a fingerprint")
    return found[0], found[1]


def _texts(found: dict[str, Any], fields: Iterable[str]) -> dict[str, str]:
    wanted = set(fields)
    if set(found) != wanted or not all(isinstance(value, str) for value in found.values()):
        raise ValueError(f"an entry is not made of the texts {', '.join(sorted(wanted))}")
    return found


def _list(found: Any) -> list[Any]:
    if not isinstance(found, list):
        raise ValueError("what should be a list is none")  # noqa: TRY004 - one kind of fault for content
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice in one object")
    return found
