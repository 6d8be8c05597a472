"""What a decision is made from: where a skill came from, and what people have said about it."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from metier.trust.waivers import day_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

    from metier.model import Scope, Trust
    from metier.trust.sign import Signed

    Said = Literal["approved", "quarantined", "blocked"]


class Provenance(NamedTuple):
    """Where a skill came from, by metier's own records: never by what the skill or its project says of itself."""

    source: str = ""
    """The repository or address it was fetched from; nothing when that is not known."""
    ref: str = ""
    commit: str = ""
    publisher: str = ""
    signature: Signed | None = None
    """What `sign.verify` has found to be signed by one of the user's trusted keys."""
    scope: Scope = "user"
    project_trusted: bool = False
    """Whether the user has said `metier trust project` for the folder it lies in."""
    project: str = ""
    """That folder, to be named in the reason."""
    pinned: str = ""
    """The digest that a lock or a manifest promises for it; nothing when none does."""


class Approval(NamedTuple):
    """What a person said about one name and one digest. Records are in the order they were made; the last one counts."""

    name: str
    digest: str
    state: Said
    level: Trust
    at: str
    """The moment, in ISO form, UTC."""
    by: str = ""
    reason: str = ""
    accept_dangerous: bool = False
    installed: bool = False
    """Whether it was said by installing: it is seen and loaded then, and running it still asks."""


class Standing(NamedTuple):
    """What the records say about one skill: about these very bytes, or about others of its name."""

    same: Approval | None = None
    """The record that binds this name and this digest, or that blocks these bytes under any name."""
    other: Approval | None = None
    """The gravest record about the name with other bytes, when none is about these."""


def standing(approvals: Iterable[Approval], name: str, digest: str | None, now: str) -> Standing:
    """Find the records that bear on a skill. An approval binds name and digest (CO-7, CO-27); a block binds either.

    Of several digests of one name the gravest record counts, not the newest: otherwise approving one version would
    let the next change of a blocked one through. Where the bytes cannot be read whole, a block of the name holds.
    """
    own: Approval | None = None
    others: dict[str, Approval] = {}
    barred: dict[str, Approval] = {}
    for record in approvals:
        approved = record.state == "approved"
        if digest is not None and record.digest == digest:
            if approved and not _is_past(record, now):
                continue
            if record.name == name:
                own = record
            else:
                barred[record.name] = record
        elif record.name == name or (not approved and folded(record.name) == folded(name)):
            others[record.digest] = record
    barring = _gravest(record for record in barred.values() if record.state != "approved")
    if own is not None or barring is not None:
        return Standing(same=_gravest(record for record in (own, barring) if record is not None))
    other = _gravest(others.values())
    if digest is None and other is not None and other.state == "blocked":
        return Standing(same=other)  # bytes that cannot be told from the blocked ones count as those
    return Standing(other=other)


_GRAVITY = {"approved": 0, "quarantined": 1, "blocked": 2}


def _gravest(records: Iterable[Approval]) -> Approval | None:
    """Give the gravest record, the newest of equals; a state that nobody knows counts as blocked."""
    found: Approval | None = None
    for record in records:
        if found is None or _GRAVITY.get(record.state, 2) >= _GRAVITY.get(found.state, 2):
            found = record
    return found


def _is_past(record: Approval, now: str) -> bool:
    """Tell whether an approval was made by now: one without a day, or from a day to come, was not."""
    made, today = day_of(record.at), day_of(now)
    return made is not None and today is not None and made <= today


def folded(name: str) -> str:
    """Give a name without the differences that the eye does not see, so that a new spelling escapes no block."""
    return unicodedata.normalize("NFKC", name).casefold()
