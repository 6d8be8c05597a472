"""Reads and writes this machine's own notes on one lock: revisions, updates that wait or were
settled, bundled skills that were deleted. Pure.

They are kept below METIER_HOME and are never committed. A file that is not exactly as metier writes
it is refused whole: what it says decides which trees of the store are still needed.

An update that waits is published, turned down or superseded, and that is noted. It is known by its
skill and by the tree that waits. What was decided about it last is kept, of the newest 1,000; a
version that somebody turned down stays turned down when its source offers it once more.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.errors import StoreError
from metier.store.record_fields import RecordError, read_versioned
from metier.supply.model import Revision, classify

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from metier.model import Texts
    from metier.supply.model import JsonObject, Pin, UpdateKind


STATE_VERSION = 2
"""The first had neither what became of updates that waited, nor since when one does."""
MAX_STATE_BYTES = 64 * 1024 * 1024
STATUSES = ("published", "rejected", "superseded")
"""What may have become of an update that waited."""
MODES = ("unchanged", "already_applied", "fast_forward", "three_way")
"""How it may have stood to the edits (BE-13)."""
_FIRST = ("version", "lock", "revisions", "pending", "forgotten")
_KEYS = (*_FIRST, "reviewed")


class PendingUpdate(NamedTuple):
    """An update that waits for review: the three trees, and the folder where the merge is worked
    on.
    """

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
    reasons: Texts
    at: str = ""
    """Since when; nothing where a first metier wrote it down."""


class SettledUpdate(NamedTuple):
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


class SupplyState(NamedTuple):
    """All that is noted about a lock."""

    lock: str = ""
    """The lock that it is about."""
    revisions: tuple[Revision, ...] = ()
    """In the order they were made."""
    pending: tuple[PendingUpdate, ...] = ()
    forgotten: tuple[tuple[str, str], ...] = ()
    """Bundled skills that the user deleted, each with the fingerprint it had: they are not brought
    back (HE-46)."""
    reviewed: tuple[SettledUpdate, ...] = ()
    """In the order it was decided, one for each version of a skill."""


def read_state(data: bytes | None) -> SupplyState:
    """Read the notes; no file means that there are none yet."""
    if data is None:
        return SupplyState()
    try:
        return _state(data)
    except RecursionError:
        why = "it is nested too deeply"
    except (ValueError, KeyError) as error:
        why = str(error)[:200]
    raise StoreError(
        f"the notes on what was installed cannot be read: {why}",
        code="state",
        hint="move the file away. You lose revisions and waiting merges, but not the lock or the skills",
    )


def state_bytes(state: SupplyState) -> bytes:
    """Write the notes down, the same bytes for the same notes."""
    document = {
        "version": STATE_VERSION,
        "lock": state.lock,
        "revisions": [one._asdict() for one in state.revisions],
        "pending": [one._asdict() for one in sorted(state.pending)],
        "forgotten": [list(one) for one in sorted(state.forgotten)],
        "reviewed": [one._asdict() for one in state.reviewed],
    }
    return (json.dumps(document, indent=1) + "\n").encode("ascii")


def _state(data: bytes) -> SupplyState:
    if len(data) > MAX_STATE_BYTES:
        raise ValueError(f"the file is longer than {MAX_STATE_BYTES:,} bytes")
    keys = {1: _FIRST, STATE_VERSION: _KEYS}
    document = read_versioned(data, keys)
    if not isinstance(document["lock"], str):
        raise RecordError(f"it is not made of {', '.join(keys[document['version']])}")
    pending = sorted(_pending(one, document["version"]) for one in _list(document["pending"]))
    if len({one.name for one in pending}) < len(pending):
        raise ValueError("two updates of one skill wait")
    reviewed = [_settled(one) for one in _list(document.get("reviewed", []))]
    if len({(one.name, one.theirs) for one in reviewed}) < len(reviewed):
        raise ValueError("one update was decided twice")
    return SupplyState(
        document["lock"],
        tuple(_revision(one) for one in _list(document["revisions"])),
        tuple(pending),
        tuple(sorted(_pair(one) for one in _list(document["forgotten"]))),
        tuple(reviewed),
    )


def _revision(found: Any) -> Revision:
    number = found.pop("number", None) if isinstance(found, dict) else None
    if type(number) is not int or number < 0:
        raise ValueError("a revision has no number")
    return Revision(number=number, **_texts(found, {*Revision._fields} - {"number"}))


def _pending(found: Any, version: int) -> PendingUpdate:
    reasons: Any = found.pop("reasons", None) if isinstance(found, dict) else None
    if not _are_texts(reasons):
        raise ValueError("an update that waits does not say why")
    fields = {*PendingUpdate._fields} - ({"reasons"} if version > 1 else {"reasons", "at"})
    return PendingUpdate(reasons=tuple(reasons), **_texts(found, fields))


def _settled(found: Any) -> SettledUpdate:
    if (
        not isinstance(found, dict)
        or found.get("status") not in STATUSES
        or found.get("mode") not in MODES
    ):
        raise ValueError("an update that waited does not say what became of it")
    return SettledUpdate(**_texts(found, SettledUpdate._fields))


def _pair(found: Any) -> tuple[str, str]:
    if not _are_texts(found) or len(found) != 2:
        raise ValueError("a deleted skill is not a name and a fingerprint")
    return found[0], found[1]


def _are_texts(found: Any) -> bool:
    return isinstance(found, list) and all(isinstance(one, str) for one in found)


def _texts(found: JsonObject, wanted: Collection[str]) -> dict[str, str]:
    if found.keys() != {*wanted} or not _are_texts(list(found.values())):
        raise ValueError(f"an entry is not made of the texts {', '.join(sorted(wanted))}")
    return found


def _list(found: Any) -> list[Any]:
    if not isinstance(found, list):
        raise ValueError("what should be a list is none")  # noqa: TRY004 - one kind of fault for content
    return found


# --- what becomes of an update

MAX_SETTLED = 1_000
"""How many decisions are kept."""
MAX_REASON_CHARS = 500
"""How many characters of what was said are kept."""
IDENT_DIGITS = 12
QUEUE_KIND = "update"


def ident_of(name: str, theirs: str) -> str:
    """Give the id of an update in the queue."""
    return f"{QUEUE_KIND}:{name}:{theirs.removeprefix('sha256:')[:IDENT_DIGITS]}"


def mode_of(pending: PendingUpdate, pin: Pin | None = None) -> UpdateKind:
    """Say how a waiting update stands to the edits that it was held with (BE-13); where there were
    none, to the lock.
    """
    gone = pin.digest if pin is not None else pending.base
    return classify(pending.base, pending.ours or gone, pending.theirs)


def find_rejection(state: SupplyState, name: str, theirs: str) -> SettledUpdate | None:
    """Give a person's no to this very version; nothing where nobody said it, or something else
    became of it since.
    """
    wanted = (name, theirs, "rejected")
    return next(
        (one for one in state.reviewed if (one.name, one.theirs, one.status) == wanted), None
    )


def settle_update(state: SupplyState, pending: PendingUpdate, row: SettledUpdate) -> SupplyState:
    """Take an update out of those that wait, and note what became of it; an older note on the same
    version goes.
    """
    rest = [one for one in state.reviewed if (one.name, one.theirs) != (row.name, row.theirs)]
    waiting = tuple(one for one in state.pending if one != pending)
    return state._replace(pending=waiting, reviewed=(*rest, row)[-MAX_SETTLED:])


def published(
    pending: PendingUpdate, mode: str, at: str, digest: str, reason: str = ""
) -> SettledUpdate:
    """Note that an update is in place."""
    return _row(pending, mode, "published", at, reason)._replace(digest=digest)


def rejected(pending: PendingUpdate, mode: str, at: str, reason: str = "") -> SettledUpdate:
    """Note that a person said no to an update."""
    return _row(pending, mode, "rejected", at, reason)


def supersede(
    state: SupplyState,
    pending: PendingUpdate,
    mode: str,
    at: str,
    reason: str,
    replaced_by: str = "",
) -> SupplyState:
    """Take an update out because something else came; that somebody had said no to it stays the
    last word.
    """
    if find_rejection(state, pending.name, pending.theirs) is not None:
        return state._replace(pending=tuple(one for one in state.pending if one != pending))
    row = _row(pending, mode, "superseded", at, reason)
    return settle_update(state, pending, row._replace(replaced_by=replaced_by))


def without_pending(
    state: SupplyState,
    names: Collection[str],
    at: str,
    reason: str = "the skill was taken out of the lock",
) -> SupplyState:
    """Take out the updates of skills that are no longer what they were held against."""
    for pending in state.pending:
        if pending.name in names:
            state = supersede(state, pending, mode_of(pending), at, reason)
    return state


def settle_arrived(state: SupplyState, pins: Iterable[Pin], at: str) -> SupplyState:
    """Note that updates are in place which somebody brought in by another way."""
    digests = {(pin.name, pin.base): pin.digest for pin in pins}
    for pending in state.pending:
        digest = digests.get((pending.name, pending.theirs))
        if digest is not None:
            row = published(pending, mode_of(pending), at, digest, "it was installed anew")
            state = settle_update(state, pending, row)
    return state


def _row(pending: PendingUpdate, mode: str, status: str, at: str, reason: str) -> SettledUpdate:
    return SettledUpdate(
        name=pending.name,
        base=pending.base,
        ours=pending.ours,
        theirs=pending.theirs,
        commit=pending.commit,
        path=pending.path,
        mode=mode,
        status=status,
        since=pending.at,
        at=at,
        reason=reason[:MAX_REASON_CHARS],
    )
