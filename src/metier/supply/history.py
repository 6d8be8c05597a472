"""`diff`, `history` and `rollback`: what a working copy was, what became of it, and the way back to
any state that is kept.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from metier.audit import log
from metier.discover.io import disk
from metier.errors import NotFoundError, StoreError, UsageError
from metier.store.io.atomic_change import state_of
from metier.supply import apply
from metier.supply.apply import VersionChange
from metier.supply.assess import admit, open_update, origin_of, own_version, signing_key
from metier.supply.deploy import check_targets, working_of
from metier.supply.local_state import ident_of, without_pending
from metier.supply.merge import combine
from metier.supply.merge.combine import difference, stored_version
from metier.supply.merge.settle import remove_stale_desks, waiting_for
from metier.supply.model import LockedSkill, Origin, Outcome, Plan, Refusal
from metier.supply.places import changer_of, find_pin, places, read, recover, store_of
from metier.trust.assess import root_of
from metier.trust.io import decisions_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.context import Context
    from metier.supply.judge import JudgedSkill
    from metier.supply.model import Pin, Revision
    from metier.supply.places import LockFiles


def installed(context: Context, *, user: bool | None) -> list[LockedSkill]:
    """List what was installed from sources, by name. Nobody is asked, and no skill is looked at."""
    found = []
    for place in places(context, user):
        kept = read(place)
        counts = Counter(one.name for one in kept.state.revisions)
        waiting = {one.name: ident_of(one.name, one.theirs) for one in kept.state.pending}
        found += [
            LockedSkill(
                name=pin.name,
                scope=place.scope,
                source=pin.source,
                ref=pin.ref,
                commit=pin.commit,
                digest=pin.digest,
                path=working_of(place, pin) if pin.targets else "",
                revisions=counts[pin.name],
                waiting=waiting.get(pin.name, ""),
            )
            for pin in kept.lock.pins
        ]
    return sorted(found, key=lambda one: (one.name, one.scope))


def history(context: Context, name: str, *, user: bool | None) -> list[Revision]:
    """List the states that a working copy was in, the newest first."""
    _place, kept, _pin = find_pin(context, name, user)
    return _own(kept, name)[::-1]


class LockEntry(NamedTuple):
    """A skill that metier put where it lies, and the lock that says so."""

    pin: Pin
    user: bool
    """Whether the user's own lock has it, and not this project's."""


def locked_at(context: Context, name: str) -> LockEntry | None:
    """Give what the lock has for the very copy that a path means; the same name elsewhere is another
    skill.
    """
    card = context.catalogue.resolve(name)
    real = disk.real(card.path)
    root = root_of(context, card)
    locked = context.pinned_at(root.project if root else "", card.path, real)
    if not context.data or locked is None or locked == ("", ""):
        return None
    for place in places(context, None):
        pin = read(place).lock.named(locked[0])
        if pin is not None and pin.targets and disk.real(working_of(place, pin)) == real:
            return LockEntry(pin, place.scope == "user")
    return None


def diff(context: Context, name: str, *, against: str, to: str = "", user: bool | None) -> str:
    """Show what was edited since the version it came from, or since a revision; with `theirs`, what
    a held update changes. With `to`, a revision stands where the working copy does.
    """
    place, kept, pin = find_pin(context, name, user)
    check_targets(context, place, pin)
    theirs = waiting_for(kept, name).theirs if against == "theirs" else ""
    own = _own(kept, name)
    revision = None if against in {"base", "theirs"} else _numbered(own, name, against)
    store = store_of(context)
    if to and revision is not None:
        other = _numbered(own, name, to)
        names = (f"revision {revision.number}", f"revision {other.number}")
        old, new = (stored_version(store, one.digest) for one in (revision, other))
        return difference(old, new, names)
    with open_update(context, place, kept) as bench:
        if revision is not None:
            names = (f"revision {revision.number}", "yours")
            return difference(
                stored_version(store, revision.digest), own_version(bench, pin), names
            )
        base = combine.base_of(context, place, bench.desk, pin)
        if isinstance(base, Refusal):
            why = "; ".join(base.reasons)
            raise StoreError(
                f"what '{name}' came from is not here: {why}",
                hint="see that its source can be reached",
            )
        if theirs:
            return difference(base, stored_version(store, theirs), ("base", "theirs"))
        return difference(base, own_version(bench, pin), ("base", "yours"))


def _numbered(own: Sequence[Revision], name: str, number: str) -> Revision:
    if not (number.isascii() and number.isdigit() and len(number) < 10):
        raise UsageError(
            f"'{number[:40]}' is not something to compare with",
            hint="expected base, theirs or a revision number",
        )
    return _revision(own, name, int(number))


def _revision(own: Sequence[Revision], name: str, number: int) -> Revision:
    found = next((one for one in own if one.number == number), None)
    if found is None:
        raise NotFoundError(
            f"there is no revision {number} of '{name}'", hint=f"metier history {name}"
        )
    return found


def _own(kept: LockFiles, name: str) -> list[Revision]:
    return sorted(
        (one for one in kept.state.revisions if one.name == name), key=lambda one: one.number
    )


# --- going back


def rollback(context: Context, name: str, revision: int | None, *, user: bool | None) -> Outcome:
    """Put a working copy back as it was in a revision, or in the last that differs; what is there
    now becomes one more.
    """
    recover(context)
    place, kept, pin = find_pin(context, name, user)
    check_targets(context, place, pin)
    local = state_of(working_of(place, pin))
    if local and not local.startswith("sha256:"):
        raise StoreError(
            f"the working copy of '{name}' can't be read completely, so it can't be saved",
            hint="see to it first",
        )
    aim = _target_revision(kept, name, revision, local or pin.digest)
    if not store_of(context).has(aim.digest):
        raise NotFoundError(
            f"the bytes of revision {aim.number} of '{name}' are no longer stored",
            code="not-in-store",
            hint=f"metier history {name}",
        )
    with open_update(context, place, kept) as bench:
        folder = bench.desk.fresh()
        store_of(context).lay(aim.digest, folder)
        # Somebody may have blocked it since, or the rules may know more.
        weighed = admit(bench, pin, folder, aim.digest, origin_of(context, pin, aim.base))
    if isinstance(weighed, Refusal):
        log.record(
            context,
            "rollback",
            "refused",
            name=name,
            digest=aim.digest,
            reason="; ".join(weighed.reasons)[:500],
        )
        return Outcome(Plan(), refused=(weighed,))
    return _put_back(context, pin, aim, local, weighed, user)


def _target_revision(kept: LockFiles, name: str, number: int | None, now: str) -> Revision:
    own = _own(kept, name)
    if number is not None:
        return _revision(own, name, number)
    found = next((one for one in reversed(own) if one.digest != now), None)
    if found is None:
        raise NotFoundError(
            f"'{name}' has only one revision, the installed one", hint=f"metier history {name}"
        )
    return found


def _put_back(
    context: Context,
    pin: Pin,
    aim: Revision,
    local: str,
    weighed: JudgedSkill,
    user: bool | None,  # noqa: FBT001 - which of the two
) -> Outcome:
    store = store_of(context)
    changer = changer_of(context)
    files = store.files(aim.digest)
    key = ""
    if store.has(aim.base):
        key = signing_key(context, stored_version(store, aim.base), pin.name)
    with changer.alone():
        place, kept, now = find_pin(context, pin.name, user)
        if now != pin:
            raise apply.changed_error(f"the lock's entry of '{pin.name}'")
        after = pin._replace(digest=aim.digest, base=aim.base, commit=aim.commit, signature=key)
        one = VersionChange.to(pin, after, files, weighed, "restore", local)
        # An update that waited was held against what is no longer there; the next one looks again.
        state = without_pending(
            kept.state, (pin.name,), decisions_file.now(), "an earlier version was put back"
        )
        notes = apply.land(
            context,
            place,
            kept._replace(state=state),
            [one],
            changer,
            "rollback",
        )
    remove_stale_desks(context, kept.state, state)
    step = weighed.step(
        "restore",
        Origin(pin.kind, pin.source, pin.ref, aim.commit),
        path=pin.path,
        digest=aim.digest,
        before=local,
        files=files,
        targets=pin.targets,
    )
    installed = apply.report_landed(context, place, [one], "rollback")
    return Outcome(Plan(update=(step,)), tuple(installed), notes=tuple(notes))
