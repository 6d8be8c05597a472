"""`diff`, `history` and `rollback`: what a working copy was, what became of it, and the way back to any state that is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.errors import NotFoundError, StoreError, UsageError
from metier.store.changing.disk import state_of
from metier.supplies import Outcome, Plan, Refusal, Step
from metier.supply.decided import without
from metier.supply.merge.unified import unified
from metier.supplying import applying, deploying, fetching, landing, pinning, places, versions
from metier.supplying.admitting import admitted
from metier.supplying.deciding import Scales
from metier.supplying.landing import Landing
from metier.supplying.merging import let_go, waiting_for
from metier.supplying.prospects import Bench, origin_of, own_version, signing_key, weigh
from metier.trust import disk as decisions
from metier.vetting.cases import TOP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.app import Library
    from metier.supplies import Pin, Revision
    from metier.supplying.deciding import Weighed
    from metier.supplying.places import Kept
    from metier.supplying.versions import Version


def history(library: Library, name: str, *, user: bool | None) -> list[Revision]:
    """List the states that a working copy was in, the newest first."""
    _place, kept, _pin = places.holding(library, name, user)
    return _own(kept, name)[::-1]


def diff(library: Library, name: str, *, against: str, user: bool | None) -> str:
    """Show what was edited since the version it came from, or since a revision; with `theirs`, what a held update changes."""
    place, kept, pin = places.holding(library, name, user)
    deploying.sure(library, place, pin)
    theirs = waiting_for(kept, name).theirs if against == "theirs" else ""
    revision = _numbered(kept, name, against) if against not in {"base", "theirs"} else None
    store = places.store_of(library)
    with fetching.desk(library) as desk, Scales(library) as scales:
        bench = Bench(library, place, kept, desk, scales)
        if revision is not None:
            names = (f"revision {revision.number}", "yours")
            return _compared(versions.kept(store, revision.digest), own_version(bench, pin), names)
        base = versions.base_of(library, place, desk, pin)
        if isinstance(base, Refusal):
            why = "; ".join(base.reasons)
            raise StoreError(f"what '{name}' came from is not here: {why}", hint="see that its source can be reached")
        if theirs:
            return _compared(base, versions.kept(store, theirs), ("base", "theirs"))
        return _compared(base, own_version(bench, pin), ("base", "yours"))


def _compared(old: Version, new: Version, names: tuple[str, str]) -> str:
    return unified(old.files, new.files, old.read, new.read, names)


def _numbered(kept: Kept, name: str, number: str) -> Revision:
    plain = number.isascii() and number.isdigit() and len(number) < 10
    if not plain:
        raise UsageError(f"'{number[:40]}' is nothing to compare with", hint="base, theirs, or the number of a revision")
    return _revision(_own(kept, name), name, int(number))


def _revision(own: Sequence[Revision], name: str, number: int) -> Revision:
    found = next((one for one in own if one.number == number), None)
    if found is None:
        raise NotFoundError(f"there is no revision {number} of '{name}'", hint=f"metier history {name}")
    return found


def _own(kept: Kept, name: str) -> list[Revision]:
    return sorted((one for one in kept.state.revisions if one.name == name), key=lambda one: one.number)


# --- going back


def rollback(library: Library, name: str, revision: int | None, *, user: bool | None) -> Outcome:
    """Put a working copy back as it was in a revision, or in the last that differs; what is there now becomes one more."""
    places.settle(library)
    place, kept, pin = places.holding(library, name, user)
    deploying.sure(library, place, pin)
    local = state_of(deploying.working_of(place, pin))
    if local and not local.startswith("sha256:"):
        raise StoreError(f"the working copy of '{name}' cannot be read whole, so it cannot be kept", hint="see to it first")
    aim = _aim(kept, name, revision, local or pin.digest)
    if not places.store_of(library).has(aim.digest):
        raise NotFoundError(f"the bytes of revision {aim.number} of '{name}' are not kept any more", code="not-in-store",
                            hint=f"metier history {name}")  # fmt: skip
    with fetching.desk(library) as desk, Scales(library) as scales:
        weighed = _weighed(Bench(library, place, kept, desk, scales), pin, aim)
    if isinstance(weighed, Refusal):
        applying.record(library, "rollback", "refused", name, aim.digest, reason="; ".join(weighed.reasons)[:500])
        return Outcome(Plan(), refused=(weighed,))
    return _back(library, pin, aim, local, weighed, user)


def _aim(kept: Kept, name: str, number: int | None, now: str) -> Revision:
    own = _own(kept, name)
    if number is not None:
        return _revision(own, name, number)
    found = next((one for one in reversed(own) if one.digest != now), None)
    if found is None:
        raise NotFoundError(f"there is no revision of '{name}' but the one in place", hint=f"metier history {name}")
    return found


def _weighed(bench: Bench, pin: Pin, aim: Revision) -> Weighed | Refusal:
    """Decide about a kept tree as about any install: somebody may have blocked it since, or the rules may know more."""
    store, working = places.store_of(bench.library), deploying.working_of(bench.place, pin)
    folder = bench.desk.fresh()
    store.lay(aim.digest, folder)
    origin = origin_of(bench.library, pin, aim.base)
    weighed = weigh(bench, pin, folder, aim.digest, origin)
    if isinstance(weighed, Refusal):
        return weighed
    accepted = bench.scales.accepted(weighed.called, aim.digest, working)
    return admitted(weighed, force=True, accept_dangerous=accepted, asked=True) or weighed


def _back(library: Library, pin: Pin, aim: Revision, local: str, weighed: Weighed, user: bool | None) -> Outcome:  # noqa: FBT001 - which of the two
    store, changer = places.store_of(library), places.changer_of(library)
    files = store.files(aim.digest)
    verdict, decision = weighed.verdict, weighed.decision
    with changer.alone():
        place, kept, now = places.holding(library, pin.name, user)
        if now != pin:
            raise landing.changed(f"the lock's entry of '{pin.name}'")
        after = pin._replace(digest=aim.digest, base=aim.base, commit=aim.commit, files=pinning.pinned_files(files),
                             verdict=weighed.judged, approval=aim.digest if decision.install == "ask" else "",
                             signature=_signed(library, pin, aim))  # fmt: skip
        one = Landing(pin, after, local, "restore", weighed)
        # An update that waited was held against what is no longer there; the next one looks again.
        state = without(kept.state, (pin.name,), decisions.now(), "an earlier version was put back")
        notes = landing.land(library, place, kept._replace(state=state), [one], changer, "rollback", pending=state.pending)
    let_go(library, kept.state, state)
    step = Step(pin.name, "restore", pin.source, pin.path, pin.ref, aim.commit, aim.digest, local, len(files),
                sum(file.size for file in files), weighed.tokens, decision.level, verdict.level, verdict.score,
                verdict.findings[:TOP], decision.install, decision.reasons, pin.targets)  # fmt: skip
    installed = landing.reported(library, place, [one], "rollback")
    return Outcome(Plan(update=(step,)), tuple(installed), notes=tuple(notes))


def _signed(library: Library, pin: Pin, aim: Revision) -> str:
    store = places.store_of(library)
    return signing_key(library, versions.kept(store, aim.base), pin.name) if store.has(aim.base) else ""
