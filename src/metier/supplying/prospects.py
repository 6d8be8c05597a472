"""What an update would come to: how it stands to the edits, what it would do, and why it must wait for a person, if it must."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.errors import MetierError, StoreError
from metier.model import Digest
from metier.store.changing.disk import state_of
from metier.supplies import Origin, Refusal, Step
from metier.supply.capabilities import gained
from metier.supply.merge.classify import classify
from metier.supplying import combining, deploying, places, versions
from metier.supplying.admitting import admitted
from metier.supplying.combining import Combined, Three
from metier.vetting.cases import TOP, fetched_from, signed

if TYPE_CHECKING:
    from metier.app import Library
    from metier.standard.digest import TreeFile
    from metier.supplies import Conflict, Mode, Pin
    from metier.supply.quarantine.disk import Desk
    from metier.supplying.deciding import Scales, Weighed
    from metier.supplying.fetching import Laid
    from metier.supplying.places import Kept, Place
    from metier.supplying.versions import Version

LEVELS = ("safe", "caution", "dangerous")


class Bench(NamedTuple):
    """What one look at the updates of a place works with."""

    library: Library
    place: Place
    kept: Kept
    desk: Desk
    scales: Scales


class Prospect(NamedTuple):
    """An update that was looked at: what the working copy would become, lying in quarantine, and what speaks against it."""

    pin: Pin
    laid: Laid
    mode: Mode
    local: str
    """The digest of the working copy now; nothing where there is none."""
    folder: str
    files: tuple[TreeFile, ...]
    digest: str
    weighed: Weighed | None
    """What a scan and the policy say; nothing only where it could not be merged and waits."""
    signature: str
    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    reasons: tuple[str, ...] = ()
    """Why it is held; nothing where it may be applied."""
    settles: bool = True
    """Whether a person can settle it by merging."""

    def step(self) -> Step:
        """Give it as a plan shows it."""
        origin, weighed, pin = self.laid.origin, self.weighed, self.pin
        assert weighed is not None
        verdict, decision = weighed.verdict, weighed.decision
        return Step(pin.name, self.mode, origin.source, self.laid.picked.path, origin.ref, origin.commit, self.digest, self.local,
                    len(self.files), sum(file.size for file in self.files), weighed.tokens, decision.level, verdict.level,
                    verdict.score, verdict.findings[:TOP], decision.install, decision.reasons, pin.targets,
                    self.gained)  # fmt: skip


def prospect(bench: Bench, pin: Pin, laid: Laid) -> Prospect | Refusal | None:
    """Look at what a source has now for a locked skill; nothing when that is what it came from (BE-13)."""
    working = deploying.working_of(bench.place, pin)
    local = state_of(working)
    if local and not local.startswith("sha256:"):
        return Refusal(pin.name, (f"{working} is no folder that can be read whole; see to it, then update",))
    mode = classify(pin.base, local or pin.digest, laid.digest)
    if mode == "unchanged":
        return None
    key = signing_key(bench.library, versions.laid_out(laid.folder, laid.files, laid.digest), pin.name)
    taken = _taken(bench, pin, laid)
    found = Prospect(pin, laid, mode, local, laid.folder, laid.files, laid.digest, None, key, reasons=taken, settles=not taken)
    if mode == "three_way":
        return _three_way(bench, found)
    weighed = weigh(bench, pin, laid.folder, laid.digest, laid.told)
    return weighed if isinstance(weighed, Refusal) else _judged(bench, found._replace(weighed=weighed))


def _taken(bench: Bench, pin: Pin, laid: Laid) -> tuple[str, ...]:
    """Say that what a skill has become in its source is locked already, under another name."""
    other = next((one for one in bench.kept.lock.pins if one.name != pin.name and one.key == (pin.source, laid.picked.path)), None)
    return (f"it has become what '{other.name}' is already; remove one of them",) if other is not None else ()


def _three_way(bench: Bench, found: Prospect) -> Prospect | Refusal:
    """Merge; the result is judged like anything new. With conflicts, the source's own version is, and all of it waits."""
    three = three_of(bench, found.pin, versions.laid_out(found.laid.folder, found.laid.files, found.laid.digest))
    if isinstance(three, Refusal):
        return found._replace(reasons=("your edits cannot be merged: " + "; ".join(three.reasons),), settles=False)
    local = three.ours.digest if found.local else ""
    combined = combining.combine(bench.library, bench.desk, three)
    if combined.conflicts:
        conflicts = combining.conflicts_of(found.pin.name, combined.conflicts, three)
        weighed = weigh(bench, found.pin, found.laid.folder, found.laid.digest, found.laid.told)
        if isinstance(weighed, Refusal):
            return weighed
        waits = (*found.reasons, *(f"{one.path}: {one.why}" for one in conflicts))
        return _judged(bench, found._replace(weighed=weighed, local=local, conflicts=conflicts, reasons=waits))
    found = found._replace(local=local, folder=combined.folder, files=combined.files, digest=combined.digest)
    weighed = weigh(bench, found.pin, combined.folder, combined.digest, found.laid.told)
    if isinstance(weighed, Refusal):
        return found._replace(reasons=tuple(f"merged with your edits it is no skill any more: {why}" for why in weighed.reasons))
    return _judged(bench, found._replace(weighed=weighed))


def three_of(bench: Bench, pin: Pin, theirs: Version) -> Three | Refusal:
    """Gather the three versions of a merge, the working copy as it is now."""
    base = versions.base_of(bench.library, bench.place, bench.desk, pin)
    if isinstance(base, Refusal):
        return base
    try:
        ours = own_version(bench, pin)
    except MetierError as error:
        return Refusal(pin.name, (f"{error.code}: {error.message}",))
    return Three(base, ours, theirs)


def own_version(bench: Bench, pin: Pin) -> Version:
    """Give the working copy as it is now; where it is gone, as the lock has it."""
    working = deploying.working_of(bench.place, pin)
    state = state_of(working)
    if not state:
        return versions.kept(places.store_of(bench.library), pin.digest)
    if not state.startswith("sha256:"):
        raise StoreError(f"{working} is no folder that can be read whole", hint="see to it, then say it again")
    return versions.snapshot(bench.library, bench.desk, working)


def weigh(bench: Bench, pin: Pin, folder: str, digest: str, origin: Origin) -> Weighed | Refusal:
    """Judge a tree in quarantine as what it would be in place; what was not looked at whole was not looked at."""
    weighed = bench.scales.weigh(folder, pin.name, origin, bench.place.scope, deploying.working_of(bench.place, pin))
    if not isinstance(weighed, Refusal) and weighed.verdict.digest != digest:
        return Refusal(pin.name, ("unscanned: the scan did not see all of it", *weighed.decision.reasons))
    return weighed


def _judged(bench: Bench, found: Prospect) -> Prospect:
    """Add what speaks against an update: a worse verdict, more capabilities, the policy, a signature that is gone."""
    weighed, pin = found.weighed, found.pin
    assert weighed is not None
    shown = found.laid if found.conflicts else Combined(found.folder, found.files, found.digest)
    new = versions.abilities(versions.laid_out(shown.folder, shown.files, shown.digest), weighed.verdict.findings)
    level, old = in_place(bench, pin)
    more = gained(old, new)
    reasons = list(found.reasons)
    if LEVELS.index(weighed.verdict.level) > LEVELS.index(level):
        reasons.append(f"the scan calls it {weighed.verdict.level}, and what is in place {level}")
    if more:
        reasons.append(f"it wants more than what is in place: {', '.join(more[:10])}" + (", …" if len(more) > 10 else ""))
    refusal = admitted(weighed, force=False, accept_dangerous=False, asked=True)
    if refusal is not None:
        reasons += [why for why in refusal.reasons if why not in reasons]
    if pin.signature and found.signature != pin.signature:
        reasons.append("it was signed, and this version is not" if not found.signature else "another key has signed this version")
    return found._replace(gained=more, lost=gained(new, old), reasons=tuple(reasons))


def in_place(bench: Bench, pin: Pin) -> tuple[str, frozenset[str]]:
    """Judge what is in place, or was, by the rules of today: its level, and what it may do. What is lost may do nothing."""
    working, store = deploying.working_of(bench.place, pin), places.store_of(bench.library)
    folder = working
    if not state_of(working):
        if not store.has(pin.digest):
            return pin.verdict.level, frozenset()
        folder = bench.desk.fresh()
        store.lay(pin.digest, folder)
    weighed = bench.scales.weigh(folder, pin.name, origin_of(bench.library, pin, pin.base), bench.place.scope, working)
    version = own_version(bench, pin)
    if isinstance(weighed, Refusal):
        return pin.verdict.level, versions.abilities(version, ())
    return weighed.verdict.level, versions.abilities(version, weighed.verdict.findings)


def origin_of(library: Library, pin: Pin, digest: str) -> Origin:
    """Give where this machine has bytes from, by its own notes: never by what a lock says."""
    return Origin(pin.kind, *fetched_from(library, digest))


def signing_key(library: Library, version: Version, name: str) -> str:
    """Give the key that signed a version, under the name that it gives itself; nothing where none did."""
    found = signed(library, versions.called(version, name), Digest(version.digest))
    return found.key if found is not None else ""
