"""What an update would come to: how it stands to the edits, what it would do, and why it must wait
for a person, if it must.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import MetierError, StoreError
from metier.model import Digest
from metier.store.io.atomic_change import state_of
from metier.supply.deploy import working_of
from metier.supply.fetch import open_quarantine
from metier.supply.judge import SkillJudge, reason_to_refuse, unscanned
from metier.supply.merge import combine
from metier.supply.merge.combine import ThreeVersions, version_in_folder
from metier.supply.merge.unified import count_changes, unified
from metier.supply.model import Origin, Refusal, classify
from metier.supply.places import store_of
from metier.supply.safe_names import VERDICT_LEVELS
from metier.trust.assess import fetched_from, signed
from metier.trust.capabilities import gained

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metier.context import Context
    from metier.model import Texts
    from metier.standard.digest import TreeFile
    from metier.supply.fetch import FetchedSkill
    from metier.supply.io.quarantine import Quarantine
    from metier.supply.judge import JudgedSkill
    from metier.supply.merge.combine import VersionFiles
    from metier.supply.model import Conflict, FileChange, Mode, Pin, PlanStep
    from metier.supply.places import InstallPlace, LockFiles


NEEDED_SKILL = "skill "
"""How the capability begins that names another skill."""


class UpdateContext(NamedTuple):
    """What one look at the updates of a place works with."""

    context: Context
    place: InstallPlace
    kept: LockFiles
    desk: Quarantine
    scales: SkillJudge


@contextmanager
def open_update(context: Context, place: InstallPlace, kept: LockFiles) -> Iterator[UpdateContext]:
    """Open what a look at the updates of a place works with; of the quarantine nothing is left."""
    with open_quarantine(context) as desk, SkillJudge(context) as scales:
        yield UpdateContext(context, place, kept, desk, scales)


class AssessedUpdate(NamedTuple):
    """An update that was looked at: what the working copy would become, lying in quarantine, and
    what speaks against it.
    """

    pin: Pin
    laid: FetchedSkill
    mode: Mode
    local: str
    """The digest of the working copy now; nothing where there is none."""
    folder: str
    files: tuple[TreeFile, ...]
    digest: str
    weighed: JudgedSkill | None
    """What a scan and the policy say; nothing only where it could not be merged and waits."""
    signature: str
    gained: Texts = ()
    lost: Texts = ()
    conflicts: tuple[Conflict, ...] = ()
    reasons: Texts = ()
    """Why it is held; nothing where it may be applied."""
    settles: bool = True
    """Whether a person can settle it by merging."""
    base: VersionFiles | None = None
    """The version that the working copy came from, where it had to be looked at."""
    changes: tuple[FileChange, ...] = ()
    """What upstream changed since that version."""
    diff: str = ""

    def step(self) -> PlanStep:
        """Give it as a plan shows it."""
        assert self.weighed is not None
        step = self.weighed.step(
            self.mode,
            self.laid.origin,
            path=self.laid.picked.path,
            digest=self.digest,
            before=self.local,
            files=self.files,
            targets=self.pin.targets,
        )
        return step._replace(gained=self.gained, changes=self.changes, diff=self.diff)


def assess(bench: UpdateContext, pin: Pin, laid: FetchedSkill) -> AssessedUpdate | Refusal | None:
    """Look at what a source has now for a locked skill; nothing when that is what it came from
    (BE-13).
    """
    working = working_of(bench.place, pin)
    local = state_of(working)
    if local and not local.startswith("sha256:"):
        return Refusal(
            pin.name,
            (
                f"{working} is not a readable folder; check what it is and its permissions, then update",
            ),
        )
    mode = classify(pin.base, local or pin.digest, laid.digest)
    if mode == "unchanged":
        return None
    key = signing_key(bench.context, version_in_folder(laid), pin.name)
    # What a skill has become in its source may be locked already, under another name.
    same = (pin.source, laid.picked.path)
    taken = tuple(
        f"it has become what '{one.name}' is already; remove one of them"
        for one in bench.kept.lock.pins
        if one.name != pin.name and one.key == same
    )
    found = AssessedUpdate(
        pin=pin,
        laid=laid,
        mode=mode,
        local=local,
        folder=laid.folder,
        files=laid.files,
        digest=laid.digest,
        weighed=None,
        signature=key,
        reasons=taken,
        settles=not taken,
    )
    if mode == "three_way":
        return _three_way(bench, found)
    weighed = weigh(bench, pin, laid.folder, laid.digest, laid.told)
    return (
        weighed if isinstance(weighed, Refusal) else _judged(bench, found._replace(weighed=weighed))
    )


def _three_way(bench: UpdateContext, found: AssessedUpdate) -> AssessedUpdate | Refusal:
    """Merge; the result is judged like anything new. With conflicts, the source's own version is,
    and all of it waits.
    """
    three = three_of(bench, found.pin, version_in_folder(found.laid))
    if isinstance(three, Refusal):
        return found._replace(
            reasons=("your edits cannot be merged: " + "; ".join(three.reasons),), settles=False
        )
    found = found._replace(base=three.base)
    local = three.ours.digest if found.local else ""
    combined = combine.combine(bench.context, bench.desk, three)
    if combined.conflicts:
        conflicts = combine.conflicts_of(found.pin.name, combined.conflicts, three)
        weighed = weigh(bench, found.pin, found.laid.folder, found.laid.digest, found.laid.told)
        if isinstance(weighed, Refusal):
            return weighed
        waits = (*found.reasons, *(f"{one.path}: {one.why}" for one in conflicts))
        return _judged(
            bench, found._replace(weighed=weighed, local=local, conflicts=conflicts, reasons=waits)
        )
    found = found._replace(
        local=local, folder=combined.folder, files=combined.files, digest=combined.digest
    )
    weighed = weigh(bench, found.pin, combined.folder, combined.digest, found.laid.told)
    if isinstance(weighed, Refusal):
        return found._replace(
            reasons=tuple(
                f"merged with your edits, it is no longer a valid skill: {why}"
                for why in weighed.reasons
            )
        )
    return _judged(bench, found._replace(weighed=weighed))


def three_of(bench: UpdateContext, pin: Pin, theirs: VersionFiles) -> ThreeVersions | Refusal:
    """Gather the three versions of a merge, the working copy as it is now."""
    base = combine.base_of(bench.context, bench.place, bench.desk, pin)
    if isinstance(base, Refusal):
        return base
    try:
        ours = own_version(bench, pin)
    except MetierError as error:
        return Refusal.of(pin.name, error)
    return ThreeVersions(base, ours, theirs)


def own_version(bench: UpdateContext, pin: Pin) -> VersionFiles:
    """Give the working copy as it is now; where it is gone, as the lock has it."""
    working = working_of(bench.place, pin)
    state = state_of(working)
    if not state:
        return combine.stored_version(store_of(bench.context), pin.digest)
    if not state.startswith("sha256:"):
        raise StoreError(
            f"{working} is not a readable folder", hint="check what it is and its permissions"
        )
    return combine.snapshot(bench.context, bench.desk, working)


def with_changes(bench: UpdateContext, found: AssessedUpdate, *, diff: bool) -> AssessedUpdate:
    """Add what upstream changed since the version that the working copy came from, and with `diff`
    every line of it; nothing where that version cannot be had any more.
    """
    new = version_in_folder(found.laid)
    name = found.pin.name
    try:
        base = found.base or _came_from(bench, found)
        if base is None:
            return found
        trees = (base.files, new.files, base.read, new.read)
        return found._replace(
            changes=count_changes(*trees),
            diff=unified(*trees, names=(f"a/{name}", f"b/{name}")) if diff else "",
        )
    except MetierError:  # what changed is only told: an update does not fail for it
        return found


def _came_from(bench: UpdateContext, found: AssessedUpdate) -> VersionFiles | None:
    """Give the version that a working copy came from, where no merge has looked at it already."""
    pin = found.pin
    if found.mode != "fast_forward":
        return None
    if found.local == pin.base and not store_of(bench.context).has(pin.base):
        return own_version(bench, pin)  # a fresh clone: the source need not be asked again
    base = combine.base_of(bench.context, bench.place, bench.desk, pin)
    return None if isinstance(base, Refusal) else base


def weigh(
    bench: UpdateContext, pin: Pin, folder: str, digest: str, origin: Origin
) -> JudgedSkill | Refusal:
    """Judge a tree in quarantine as what it would be in place; what was not looked at whole was not
    looked at.
    """
    weighed = bench.scales.weigh(
        folder, pin.name, origin, bench.place.scope, working_of(bench.place, pin)
    )
    return weighed if isinstance(weighed, Refusal) else unscanned(weighed, digest) or weighed


def admit(
    bench: UpdateContext, pin: Pin, folder: str, digest: str, origin: Origin
) -> JudgedSkill | Refusal:
    """Judge a tree that a person asks for by name: only what is dangerous, and was not accepted as
    that, or is blocked, is refused.
    """
    weighed = weigh(bench, pin, folder, digest, origin)
    if isinstance(weighed, Refusal):
        return weighed
    accepted = bench.scales.accepted(weighed.called, digest, working_of(bench.place, pin))
    return reason_to_refuse(weighed, force=True, accept_dangerous=accepted, asked=True) or weighed


def _judged(bench: UpdateContext, found: AssessedUpdate) -> AssessedUpdate:
    """Add what speaks against an update: a worse verdict, more capabilities, the policy, a
    signature that is gone.
    """
    weighed = found.weighed
    pin = found.pin
    assert weighed is not None
    shown = version_in_folder(found.laid if found.conflicts else found)
    new = combine.abilities(shown, weighed.verdict.findings)
    level, old = judge_in_place(bench, pin)
    more = gained(old, new)
    reasons = list(found.reasons)
    if VERDICT_LEVELS.index(weighed.verdict.level) > VERDICT_LEVELS.index(level):
        reasons.append(f"the scan calls it {weighed.verdict.level}, and what is in place {level}")
    # A skill that it newly needs is no permission: it is in the plan, and judged for itself.
    wider = [one for one in more if not one.startswith(NEEDED_SKILL)]
    if wider:
        reasons.append(
            f"it asks for new permissions: {', '.join(wider[:10])}"
            + (", …" if len(wider) > 10 else "")
        )
    refusal = reason_to_refuse(weighed, force=False, accept_dangerous=False, asked=True)
    if refusal is not None:
        reasons += [why for why in refusal.reasons if why not in reasons]
    if pin.signature and found.signature != pin.signature:
        reasons.append(
            "the installed version is signed, and this one isn't"
            if not found.signature
            else "this version is signed with a different key"
        )
    return found._replace(gained=more, lost=gained(new, old), reasons=tuple(reasons))


def judge_in_place(bench: UpdateContext, pin: Pin) -> tuple[str, frozenset[str]]:
    """Judge what is in place, or was, by the rules of today: its level, and what it may do. What is
    lost may do nothing.
    """
    working = working_of(bench.place, pin)
    store = store_of(bench.context)
    folder = working
    if not state_of(working):
        if not store.has(pin.digest):
            return pin.verdict.level, frozenset()
        folder = bench.desk.fresh()
        store.lay(pin.digest, folder)
    weighed = bench.scales.weigh(
        folder, pin.name, origin_of(bench.context, pin, pin.base), bench.place.scope, working
    )
    version = own_version(bench, pin)
    if isinstance(weighed, Refusal):
        return pin.verdict.level, combine.abilities(version, ())
    return weighed.verdict.level, combine.abilities(version, weighed.verdict.findings)


def origin_of(context: Context, pin: Pin, digest: str) -> Origin:
    """Give where this machine has bytes from, by its own notes: never by what a lock says."""
    return Origin(pin.kind, *fetched_from(context, digest))


def signing_key(context: Context, version: VersionFiles, name: str) -> str:
    """Give the key that signed a version, under the name that it gives itself; nothing where none
    did.
    """
    found = signed(context, combine.own_name(version, name), Digest(version.digest))
    return found.key if found is not None else ""
