"""`sync`: make the disk match the lock. What is missing is restored at its pin; what differs is
somebody's work and stays.

`frozen` leaves lock and differing bytes alone and says so: the same bytes, or an exit code. Without
it, edits of a working copy are recorded in the lock, so that they are what the next `sync --frozen`
expects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.audit import log
from metier.errors import MetierError, NotFoundError
from metier.store.io.atomic_change import Switch, state_of
from metier.supply import apply, deploy, fetch, places
from metier.supply.apply import PinChange, say_again
from metier.supply.assess import UpdateContext, open_update, origin_of
from metier.supply.deploy import check_targets, path_of, target_states, wanted_state, working_of
from metier.supply.fetch import pinned_files
from metier.supply.judge import JudgedSkill, TreeToJudge, reason_to_refuse, unscanned
from metier.supply.model import Refusal, SyncOutcome
from metier.supply.places import (
    changer_of,
    place_of,
    plugin_owners,
    recover,
    refusal_if_owned,
    store_of,
)
from metier.supply.policy_check import breaches
from metier.supply.vouch import take_vouches
from metier.trust.explain_policy import require

if TYPE_CHECKING:
    from collections.abc import Sequence, Set as AbstractSet

    from metier.context import Context
    from metier.model import Texts
    from metier.standard.digest import TreeFile
    from metier.store.io.atomic_change import SavedEdits
    from metier.supply.fetch import FetchedSkill
    from metier.supply.model import Pin
    from metier.supply.places import InstallPlace, LockFiles


class PinStatus(NamedTuple):
    """How one skill of the lock stands: what to switch, what differs, whether its tree must be
    fetched first.
    """

    pin: Pin
    working: str
    """Where its working copy is, or would be."""
    switches: tuple[Switch, ...]
    drift: Texts
    edited: str = ""
    """The digest of a working copy that was edited."""
    mine: bool = False
    """Whether this version was in this place on this machine before."""


def sync(context: Context, *, frozen: bool, user: bool, policy: str = "") -> SyncOutcome:
    """Restore what is missing, and say what differs, and what a policy does not allow. `policy` is
    one more to hold it to.
    """
    if policy:
        require(context, policy)
    place = place_of(context, user=user)
    recover(context)
    kept = places.read(place)
    if frozen and kept.lock_bytes is None:
        raise NotFoundError(
            f"there is no {place.lock}", hint="metier add creates one; commit it with the project"
        )
    done = []
    saved: tuple[SavedEdits, ...] = ()
    with open_update(context, place, kept) as session:
        looked, drift = _look(context, place, kept, frozen=frozen)
        unverified = take_vouches(context, kept.lock)
        against = breaches(context, place, kept.lock)
        drift += [f"{name}: {'; '.join(why)}" for name, why in against.items()]
        seen = [one for one in looked if one.pin.name not in against]
        restoring = _Restoring(session, seen)
        restoring.restore()
        drift += restoring.drift
        changer = changer_of(context)
        with changer.alone():
            kept = places.read(place)
            if _look(context, place, kept, frozen=frozen)[0] != looked:
                raise say_again("something changed in the meantime. Nothing was done")
            for one in seen:
                move = _move(
                    session, one, one.switches if one.pin.name in restoring.ready else (), frozen
                )
                if move is not None:
                    done.append(move)
                recorded = {_edited(one.working)} if move and move.what == "edit" else ()
                drift += [text for text in one.drift if text not in recorded]
            if done or (kept.lock.notes and not frozen):
                saved = apply.apply(context, place, kept, done, changer, frozen=frozen)
    log.record_all(
        context,
        [
            log.event(
                context,
                "sync",
                "done",
                name=move.name,
                digest=move.pin.digest if move.pin else "",
                frozen=frozen,
            )
            for move in done
        ],
    )
    changed = tuple(switch.path for move in done for switch in move.switches)
    notes = [f"{one.path}: kept as {one.digest}" for one in saved]
    notes += [f"{move.name}: edits recorded in the lock" for move in done if move.what == "edit"]
    notes += unverified
    return SyncOutcome(
        not drift, changed, tuple(drift), (*restoring.notes, *notes, *kept.lock.notes)
    )


def _look(
    context: Context, place: InstallPlace, kept: LockFiles, *, frozen: bool
) -> tuple[list[PinStatus], list[str]]:
    """Compare the disk with the lock, and say which skills of it belong to a plugin here: whoever
    shares the lock has locked what this one mirrors, and that is not looked at.
    """
    found = []
    drift = []
    owned = plugin_owners(context, place)
    known: dict[str, dict[str, bool]] = {}
    folders: dict[str, str] = {}
    for one in kept.state.revisions:
        known.setdefault(one.name, {})[one.digest] = one.what == "edit"
    for pin in kept.lock.pins:
        whose = refusal_if_owned(owned, pin.name)
        if whose is not None:
            drift.append(f"{pin.name}: {'; '.join(whose.reasons)}")
            continue
        check_targets(context, place, pin)
        # What metier itself once put there is nobody's work: after a pull, the lock may have a
        # newer version.
        own = known.get(pin.name, {})
        past = {
            digest
            for digest, edit in own.items()
            if digest != pin.digest and not edit and not frozen
        }
        found.append(_compare(place, pin, past, folders)._replace(mine=pin.digest in own))
    return found, drift


def _compare(
    place: InstallPlace, pin: Pin, past: AbstractSet[str], folders: dict[str, str]
) -> PinStatus:
    states = target_states(place, pin.targets, folders)
    working = working_of(place, pin, folders)
    present = states.get(working, "")
    edited = (
        present
        if present.startswith("sha256:") and present != pin.digest and present not in past
        else ""
    )
    switches = []
    drift = []
    for target in dict.fromkeys(target._replace(agent="") for target in pin.targets):
        path = path_of(place, target, folders)
        state = states[path]
        after = wanted_state(place, target, pin.digest, working, folders)
        if state == after or (
            target.method == "link" and path == working
        ):  # that agent's folder leads here already
            continue
        if not state or (state in past and target.method != "link"):
            switches.append(Switch(path, deploy.below(place, path), state, after))
        elif path == working and edited:
            drift.append(_edited(working))
        else:
            drift.append(f"{path}: is not the {target.method} that the lock has")
    return PinStatus(pin, working, tuple(dict.fromkeys(switches)), tuple(drift), edited)


def _edited(working: str) -> str:
    return f"{working}: differs from the lock"


class _Restoring:
    """Sees to it that the store has the tree of each pin that is missing, whole, and that the
    policy still lets it in. Each source is opened once, and what is wrong with one skill keeps
    nobody from another.
    """

    def __init__(self, session: UpdateContext, found: Sequence[PinStatus]) -> None:
        """Look at what the store has of every pin, byte by byte."""
        self.session = session
        self.store = store_of(session.context)
        self.found = found
        self.missing = {one.pin.name: one for one in found if one.switches}
        wanted = {digest for one in found for digest in (one.pin.digest, one.pin.base)}
        self.damaged = {digest for digest in wanted if self.store.is_damaged(digest)}
        self.ready: set[str] = set()
        """The names of those that can be put in place."""
        self.drift: list[str] = []
        self.notes: list[str] = []

    def restore(self) -> None:
        """Take what is on this machine, then what sources have."""
        away = [one.pin for one in self.found if not self._is_settled_here(one)]
        context = self.session.context
        desk = self.session.desk
        laid = list(fetch.restore_all(context, self.session.place, desk, away, self._is_judged))
        trees = [
            TreeToJudge(one.folder, pin.name, one.digest)
            for pin, one in laid
            if not isinstance(one, Refusal) and not one.loose
        ]
        self.session.scales.foresee(trees)
        wanted = []
        for pin, one in laid:
            try:
                allowed = self._allowed(pin, one)
            except MetierError as error:
                self._tell(pin, Refusal.of(pin.name, error))
                continue
            wanted += [(pin, allowed)] if allowed is not None else []
        if wanted:
            with self.store.writing():  # once for all of them
                for pin, allowed in wanted:
                    try:
                        self._keep(pin, allowed)
                    except MetierError as error:
                        self._tell(pin, Refusal.of(pin.name, error))

    def _is_judged(self, pin: Pin) -> bool:
        """Tell whether nobody needs to look at what the source gives again: the verdict on these
        very bytes is known.
        """
        return pin.base == pin.digest and self.session.scales.knows(pin.digest, pin.name)

    def _is_settled_here(self, found: PinStatus) -> bool:
        """Settle a skill with what is on this machine; tell whether its source need not be
        asked.
        """
        pin = found.pin
        try:
            working = found.working
            if self.damaged & {pin.digest, pin.base} and state_of(working) in self.damaged:
                self.damaged.discard(self.store.keep(working))
                self.notes.append(f"{pin.name}: its copy in the store was damaged; repaired")
            if pin.name in self.missing:
                if state_of(working) == pin.digest:
                    refusal = _decide(self.session, found, working)
                    files = self.store.files(self.store.keep(working))
                elif pin.digest not in self.damaged and self.store.has(pin.digest):
                    refusal = _decide(self.session, found)
                    files = self.store.files(pin.digest)
                else:
                    return False
                self._tell(pin, refusal or _check_files(pin, files))
            elif pin.digest in self.damaged and pin.digest != pin.base:
                self.notes.append(f"{pin.name}: the copy with its edits is damaged in the store")
        except MetierError as error:
            self._tell(pin, Refusal.of(pin.name, error))
        return pin.base not in self.damaged

    def _allowed(self, pin: Pin, laid: FetchedSkill | Refusal) -> FetchedSkill | None:
        """Give what a source gave, where it may be kept; tell why, where not."""
        ill = bool(self.damaged & {pin.digest, pin.base})
        waits = pin.name in self.missing and pin.name not in self.ready
        if isinstance(laid, Refusal):
            if ill:
                why = "its copy in the store is damaged, and its source does not have it any more"
                laid = laid._replace(reasons=(why, *laid.reasons))
            self._tell(pin, laid)
            return None
        if waits:
            refusal = self._decide_fetched(self.missing[pin.name], laid)
            self._tell(pin, refusal)
            if refusal is not None:
                return None
        return laid

    def _keep(self, pin: Pin, laid: FetchedSkill) -> None:
        """Put it into the store, over what is damaged there."""
        fetch.keep_fetched(self.store, laid)
        if laid.digest in self.damaged:
            self.damaged.discard(laid.digest)
            self.notes.append(f"{pin.name}: its copy in the store was damaged; fetched again")

    def _decide_fetched(self, found: PinStatus, laid: FetchedSkill) -> Refusal | None:
        pin = found.pin
        if laid.digest != pin.digest:
            why = "its edits are not on this machine: commit the working copy with the lock"
            if pin.digest in self.damaged:
                why = (
                    "the copy with its edits is damaged in the store, and no source has it; to "
                    f"get the source's version: metier remove {pin.name}, then add it again"
                )
            return Refusal(pin.name, (why,))
        scales = self.session.scales
        about = (pin.name, laid.told, self.session.place.scope, found.working)
        weighed = (
            scales.recalled(laid.digest, *about, laid.document)
            if laid.loose
            else scales.weigh(laid.folder, *about, laid.digest)
        )
        if weighed is None:
            raise say_again(f"the verdict on {pin.name} was cleared in the meantime")
        return _reason_not_to_restore(self.session, found, weighed) or _check_files(pin, laid.files)

    def _tell(self, pin: Pin, refusal: Refusal | None) -> None:
        """Note what became of a skill; of one that is in place, nothing is refused."""
        if refusal is None:
            self.ready.add(pin.name)
        elif pin.name not in self.missing or pin.name in self.ready:
            self.notes.append(f"{pin.name}: {'; '.join(refusal.reasons)}")
        else:
            why = "; ".join(refusal.reasons)
            self.drift.append(f"{pin.name}: not restored: {why}")
            log.record(
                self.session.context,
                "install",
                "refused",
                name=pin.name,
                digest=pin.digest,
                reason=why[:500],
                asked="sync",
            )
        if pin.name in self.missing:
            done = len(self.ready) + len(self.drift)
            self.session.context.progress("skills restored", done, len(self.missing))


def _check_files(pin: Pin, files: Sequence[TreeFile]) -> Refusal | None:
    """Refuse a pin whose list of files is not that of its digest: somebody would read the one and
    get the other.
    """
    if pinned_files(files) == pin.files:
        return None
    return Refusal(
        pin.name, ("malformed: the files that the lock lists are not those of its digest",)
    )


def _decide(session: UpdateContext, found: PinStatus, folder: str = "") -> Refusal | None:
    """Decide once more about a tree that is here: somebody may have blocked it since, or the rules
    may know more.
    """
    pin = found.pin
    scope = session.place.scope
    working = found.working
    origin = origin_of(session.context, pin, pin.digest)
    weighed: JudgedSkill | Refusal | None = session.scales.recalled(
        pin.digest, pin.name, origin, scope, working
    )
    if weighed is None:
        if not folder:
            folder = session.desk.fresh()
            store_of(session.context).lay(pin.digest, folder)
        weighed = session.scales.weigh(folder, pin.name, origin, scope, working)
    return _reason_not_to_restore(session, found, weighed)


def _reason_not_to_restore(
    session: UpdateContext, found: PinStatus, weighed: JudgedSkill | Refusal
) -> Refusal | None:
    """Say why a pin is not restored.

    That somebody let in what is doubtful is only the lock's word, unless the lock is the user's,
    the project is trusted, or it was this user who did.
    """
    if isinstance(weighed, Refusal):
        return weighed
    digest = found.pin.digest
    unseen = unscanned(weighed, digest)
    if unseen is not None:
        return unseen
    approval = session.scales.spoken(weighed.called, digest, found.working)
    vouched = found.mine or session.scales.vouched(session.place) or approval is not None
    if weighed.decision.install == "ask" and not vouched:
        why = f"review the lock, then run: metier trust project {session.place.base}"
        return Refusal(found.pin.name, (*weighed.decision.reasons, why))
    danger = approval is not None and approval.accept_dangerous
    return reason_to_refuse(weighed, force=vouched, accept_dangerous=danger, asked=vouched)


def _move(
    session: UpdateContext,
    found: PinStatus,
    switches: tuple[Switch, ...],
    frozen: bool,  # noqa: FBT001 - as `sync` was told
) -> PinChange | None:
    """Say what to change: what is missing; and, where the lock may be written, the lock, so that it
    has a working copy's edits and the copies that nobody edited come along.
    """
    pin = found.pin
    place = session.place
    if found.edited and not frozen:
        store = store_of(session.context)
        working = found.working
        digest = store.keep(working)
        if digest != found.edited:
            raise say_again(f"{working} is being edited right now")
        origin = origin_of(session.context, pin, pin.digest)
        weighed = session.scales.weigh(working, pin.name, origin, place.scope, working)
        if not isinstance(weighed, Refusal):
            files = pinned_files(store.files(digest))
            after = pin._replace(digest=digest, files=files, verdict=weighed.judged)
            changes = [
                switch._replace(after=digest) if switch.after == pin.digest else switch
                for switch in switches
            ]
            for target in pin.targets:
                path = path_of(place, target)
                if target.method == "copy" and state_of(path) == pin.digest:
                    changes.append(Switch(path, deploy.below(place, path), pin.digest, digest))
            return PinChange(pin.name, after, tuple(changes), "edit", pin)
    return PinChange(pin.name, pin, switches, "sync", pin) if switches else None
