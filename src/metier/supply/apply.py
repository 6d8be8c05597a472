"""Changes skills' folders, the lock and the notes in one atomic step, which every supply verb ends
in.

A new version gets in so: edits are kept first, untouched copies follow, edited ones stay. Edits
that a change found at the last moment, or a crash left behind, become revisions of the skill they
were made to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.audit import log
from metier.errors import MetierError, StoreError
from metier.store.io.atomic_change import SAVED, Replace, StoreChange, Switch
from metier.store.journal import write_saved
from metier.supply import deploy, places
from metier.supply.deploy import path_of, target_states, wanted_state, working_copy, working_of
from metier.supply.fetch import pinned_files
from metier.supply.judge import record_approvals
from metier.supply.local_state import state_bytes
from metier.supply.lock import lock_bytes
from metier.supply.model import Installed, Lock, Revision
from metier.supply.places import check_not_owned, home_of, plugin_owners, refusal_if_owned, store_of
from metier.supply.vouch import with_vouch
from metier.trust.approve import take_back_own
from metier.trust.io import decisions_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from metier.context import Context
    from metier.standard.digest import TreeFile
    from metier.store.io.atomic_change import Changer, SavedEdits
    from metier.store.io.tree_store import Store
    from metier.supply.judge import JudgedSkill
    from metier.supply.local_state import SupplyState
    from metier.supply.model import Mode, Pin
    from metier.supply.places import InstallPlace, LockFiles
    from metier.trust.sign import Signed


def claim_edits(context: Context, changer: Changer) -> None:
    """Note the edits that lie in the store and are nobody's yet; those of other projects wait for a
    command there.
    """
    with changer.alone():
        for place in places.places(context, None):
            try:
                _claim_edits_of(place, places.read(place), plugin_owners(context, place), changer)
            except MetierError as error:  # a lock that cannot be read keeps nobody from another
                context.warnings.append(
                    f"{place.lock}: edits that were kept are not in the history yet: "
                    f"{error.message}"
                )


def _claim_edits_of(
    place: InstallPlace, kept: LockFiles, owned: Mapping[str, str], changer: Changer
) -> None:
    """Note the edits of a place's own skills; those of skills that a plugin owns are left to
    whoever mirrors it.
    """
    saved, data = changer.unclaimed()
    state = kept.state
    own = set()
    for one in saved:
        name, pin = _whose(place, kept, one.path)
        if name and refusal_if_owned(owned, name) is None:
            about = (pin.base, pin.commit) if pin is not None else (one.digest, "")
            state = with_revision(
                state, Revision(name, 0, one.digest, *about, decisions_file.now(), "edit")
            )
            own.add(one.path)
    if own:
        rest = [one for one in saved if one.path not in own]
        notes = Replace(
            place.state,
            changer.folder,
            kept.state_bytes,
            state_bytes(state._replace(lock=place.lock)),
        )
        left = Replace(
            f"{changer.folder}/{SAVED}", changer.folder, data, write_saved(rest) if rest else None
        )
        changer.apply(StoreChange((), (notes, left)))


def _whose(place: InstallPlace, kept: LockFiles, path: str) -> tuple[str, Pin | None]:
    """Give the skill that a path is a place of: one of the lock, or one that was removed since."""
    for pin in kept.lock.pins:
        if any(path == path_of(place, target) for target in pin.targets):
            return pin.name, pin
    name = path.rpartition("/")[2]
    gone = any(one.name == name for one in kept.state.revisions) and path == working_copy(
        place, name
    )
    return (name, None) if gone else ("", None)


def with_revision(state: SupplyState, made: Revision) -> SupplyState:
    """Add a revision under the next number, unless the newest of that skill is the same."""
    own = [one for one in state.revisions if one.name == made.name]
    if own and (own[-1].digest, own[-1].base, own[-1].commit) == (
        made.digest,
        made.base,
        made.commit,
    ):
        return state
    number = max((one.number for one in own), default=0) + 1
    return state._replace(revisions=(*state.revisions, made._replace(number=number)))


# --- the one atomic change


class PinChange(NamedTuple):
    """What becomes of one skill: its pin after and before, the places to change, and what made it
    so.
    """

    name: str
    pin: Pin | None
    """None takes it out of the lock."""
    switches: tuple[Switch, ...]
    what: str
    """What made it: the word that its revision carries."""
    before: Pin | None = None


def apply(
    context: Context,
    place: InstallPlace,
    kept: LockFiles,
    moves: Sequence[PinChange],
    changer: Changer,
    *,
    frozen: bool = False,
) -> tuple[SavedEdits, ...]:
    """Change all places, the lock and the notes, wholly or not at all. The caller holds the
    changers' lock.

    Whatever is replaced is a revision first. `frozen` leaves the lock as it is. What belongs to a plugin is never touched, whoever asks.
    """
    check_not_owned(context, place, (move.name for move in moves))
    locked = {pin.name: pin for pin in kept.lock.pins}
    moves = moves if frozen else _vouched(context, locked, moves)
    store = store_of(context)
    state = _with_revisions(store, place, kept.state, moves)
    gone = {move.name for move in moves}
    pins = [pin for pin in kept.lock.pins if pin.name not in gone]
    pins += [_pinned(store, move.pin, locked) for move in moves if move.pin is not None]
    lock = lock_bytes(Lock(tuple(sorted(pins, key=lambda pin: (pin.name, pin.key)))))
    home = home_of(context)
    files = [
        Replace(
            place.state,
            f"{home}/supply",
            kept.state_bytes,
            state_bytes(state._replace(lock=place.lock)),
        )
    ]
    if not frozen and (lock != kept.lock_bytes) and (pins or kept.lock_bytes is not None):
        folder = place.base if place.scope == "project" else home
        files.append(Replace(place.lock, folder, kept.lock_bytes, lock))
    take_back_own(context, (switch.path for move in moves for switch in move.switches))
    saved = changer.apply(
        StoreChange(tuple(switch for move in moves for switch in move.switches), tuple(files))
    )
    if saved:
        context.warnings += [
            f"{one.path} was edited in the meantime; the earlier version is kept as a revision"
            for one in saved
        ]
        claim_edits(context, changer)
    _tell_verdicts(context, moves)
    context.catalogue.refresh()
    return saved


def _with_revisions(
    store: Store, place: InstallPlace, state: SupplyState, moves: Iterable[PinChange]
) -> SupplyState:
    """Make what moves replace, and what they put in place, revisions."""
    now = decisions_file.now()
    for move in moves:
        state = _with_replaced(store, place, state, move, now)
        if move.pin is not None:
            pin = move.pin
            made = Revision(
                name=move.name,
                number=0,
                digest=pin.digest,
                base=pin.base,
                commit=pin.commit,
                at=now,
                what=move.what,
            )
            state = with_revision(state, made)
    return state


def _pinned(store: Store, pin: Pin, locked: Mapping[str, Pin]) -> Pin:
    """Give a pin with what it needs, which was found out already of one that the lock has."""
    return pin if pin == locked.get(pin.name) else _with_requires(store, pin)


def _with_requires(store: Store, pin: Pin) -> Pin:
    """Give a pin with the skills that its own files say it needs, whatever put them there."""
    from metier.standard.document import read_document
    from metier.supply.needed import APM_FILE, needs_in

    paths = {file.path for file in pin.files}
    try:
        data = store.read(pin.digest, "SKILL.md") if "SKILL.md" in paths else b""
        apm = store.read(pin.digest, APM_FILE) if APM_FILE in paths else b""
    except MetierError:  # what a lock of somebody else names, and nobody has fetched yet
        return pin
    document = read_document(data, folder=pin.name, file="SKILL.md", size=len(data))
    found = needs_in(dict(document.fields) if document is not None else {}, apm).requires.skills
    return pin._replace(requires=tuple(sorted({one.name for one in found})))


def _vouched(
    context: Context, locked: Mapping[str, Pin], moves: Sequence[PinChange]
) -> list[PinChange]:
    """Put the signatures of skills into their pins."""
    return [
        move._replace(pin=with_vouch(context, move.pin, locked.get(move.name)))
        if move.pin is not None
        else move
        for move in moves
    ]


def _tell_verdicts(context: Context, moves: Iterable[PinChange]) -> None:
    """Have the next list show how what was put in place was judged."""
    for move in moves:
        level = move.pin.verdict.level if move.pin is not None else ""
        states = [switch.after for switch in move.switches]
        digest = next((after for after in states if after.startswith("sha256:")), "")
        for switch in move.switches if level else ():
            context.learn(switch.path, move.name, level, digest)


def _with_replaced(
    store: Store, place: InstallPlace, state: SupplyState, move: PinChange, now: str
) -> SupplyState:
    """Make every folder that a move replaces or removes a revision, the working copy last: a
    rollback goes to that one first.
    """
    before = move.before
    pin = move.before or move.pin
    replaced = any(switch.before for switch in move.switches)
    working = working_of(place, pin) if pin is not None and replaced else ""
    for switch in reversed(move.switches):
        digest = switch.before
        if not digest.startswith("sha256:") or digest == switch.after:
            continue
        if not store.has(digest) and store.keep(switch.path) != digest:
            raise say_again(f"{switch.path} is being edited right now; nothing was done")
        own = [one for one in state.revisions if one.name == move.name]
        known = own[-1:] if switch.path == working else own
        if any(one.digest == digest for one in known):
            continue
        # Of a folder that metier never put there, nothing but its bytes is known.
        base, commit, locked = (
            (before.base, before.commit, before.digest) if before is not None else (digest, "", "")
        )
        own_once = any(one.digest == digest and one.what != "edit" for one in own)
        what = "sync" if digest == locked or own_once else "edit"
        state = with_revision(
            state,
            Revision(
                name=move.name, number=0, digest=digest, base=base, commit=commit, at=now, what=what
            ),
        )
    return state


# --- a new version of a skill


class VersionChange(NamedTuple):
    """A skill that gets another version: its pin before and after, and the working copy's digest,
    which must still be that.
    """

    before: Pin
    after: Pin
    local: str
    mode: Mode
    weighed: JudgedSkill

    @classmethod
    def to(
        cls,
        pin: Pin,
        after: Pin,
        files: Iterable[TreeFile],
        weighed: JudgedSkill,
        mode: Mode,
        local: str,
    ) -> VersionChange:
        """Give the change to files that were judged; the rest of the pin is as it will be."""
        approval = after.digest if weighed.decision.install == "ask" else ""
        after = after._replace(files=pinned_files(files), verdict=weighed.judged, approval=approval)
        return cls(pin, after, local, mode, weighed)


def land(
    context: Context,
    place: InstallPlace,
    kept: LockFiles,
    landings: Sequence[VersionChange],
    changer: Changer,
    what: str,
    more: Sequence[PinChange] = (),
) -> list[str]:
    """Change everything at once; the trees are in the store already. `more` comes along in the same
    change. Gives what was left alone, in words.
    """
    moves = [*more]
    notes = []
    for one in landings:
        switches, left = switches_to(place, one.before, one.after.digest, one.local)
        notes += [f"{path} was changed outside metier, and stays as it is" for path in left]
        moves.append(PinChange(one.after.name, one.after, switches, what, one.before))
    apply(context, place, kept, moves, changer)
    return notes


def changed_error(what: str) -> StoreError:
    """Make the error for something that somebody else changed while it was looked at."""
    return say_again(f"{what} changed in the meantime. Nothing was done")


def say_again(message: str) -> StoreError:
    """Make the error for what may be fine the next time, because somebody else was at it."""
    return StoreError(message, code="changed", hint="try again")


def switches_to(
    place: InstallPlace, pin: Pin, digest: str, local: str
) -> tuple[tuple[Switch, ...], list[str]]:
    """Give the switches that bring a skill to a digest: the working copy, and copies that are still
    what they were made.

    What is missing stays missing, for `sync` to restore; what somebody changed by itself stays, and
    is named.
    """
    states = target_states(place, pin.targets)
    working = working_of(place, pin)
    found = {}
    left = []
    for target in pin.targets:
        path = path_of(place, target)
        state = local if path == working else states[path]
        after = wanted_state(place, target, digest, working)
        if path in found or state == after:
            continue
        if path == working or state in {pin.digest, pin.base}:
            found[path] = Switch(path, deploy.below(place, path), state, after)
        elif state:
            left.append(path)
    return tuple(found.values()), left


def report_landed(
    context: Context, place: InstallPlace, landings: Sequence[VersionChange], what: str
) -> list[Installed]:
    """Write down what was done, in the decisions and in the audit log, all at once."""
    paths = [working_of(place, one.after) for one in landings]
    record_approvals(
        context,
        place,
        [(one.weighed, path) for one, path in zip(landings, paths, strict=True)],
        what,
    )
    log.record_all(
        context,
        [
            log.event(
                context,
                what,
                "done",
                name=pin.name,
                digest=pin.digest,
                path=path,
                origin=pin.source,
                ref=pin.ref,
                commit=pin.commit,
                verdict=pin.verdict.level,
                mode=mode,
            )
            for (_before, pin, _local, mode, _weighed), path in zip(landings, paths, strict=True)
        ],
    )
    context.catalogue.refresh()  # now that it is written down who let them in
    return [
        Installed(one.after.name, one.after.digest, path, one.mode, one.after.targets)
        for one, path in zip(landings, paths, strict=True)
    ]


# --- who signed what is installed


def sign_skill(context: Context, name: str, key: str = "") -> tuple[Signed, str]:
    """Sign a skill's bytes as they are now; give what was signed and where the signature is
    kept.
    """
    from metier.trust import sign  # few skills are signed

    signed, path = sign.sign_skill(context, name, key)
    _note(context, signed)
    return signed, path


def verify_skill(context: Context, name: str, file: str = "") -> Signed:
    """Check a signature over a skill's bytes as they are now; a good one that was given in a file
    is kept.
    """
    from metier.trust import sign  # few skills are signed

    signed = sign.verify_skill(context, name, file)
    _note(context, signed)
    return signed


def _note(context: Context, signed: Signed) -> None:
    """Write the key into every lock that pins these bytes, so that an update without a signature is
    held from now on. The signature is good whether or not a lock can be written.
    """
    if not context.data:
        return
    for place in places.places(context, None):
        try:
            _note_in(context, place, signed)
        except MetierError as error:
            context.warnings.append(f"{place.lock} doesn't say who signed it: {error.message}")


def _note_in(context: Context, place: InstallPlace, signed: Signed) -> None:
    def differs(lock: Lock) -> bool:
        return any(pin.base == signed.digest and pin.signature != signed.key for pin in lock.pins)

    if not differs(places.read(place).lock):
        return
    changer = places.changer_of(context)
    with changer.alone():
        kept = places.read(place)
        pins = tuple(
            pin._replace(signature=signed.key) if pin.base == signed.digest else pin
            for pin in kept.lock.pins
        )
        folder = place.base if place.scope == "project" else home_of(context)
        after = Replace(place.lock, folder, kept.lock_bytes, lock_bytes(Lock(pins)))
        changer.apply(StoreChange((), (after,)))
