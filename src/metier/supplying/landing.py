"""How a new version of a locked skill gets into its places: edits are kept first, untouched copies follow, edited ones stay."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier import recording
from metier.errors import StoreError
from metier.store.changing.disk import Switch
from metier.supplies import Installed
from metier.supplying import applying, deploying, places
from metier.supplying.admitting import vouched

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from metier.app import Library
    from metier.store.changing.disk import Changer
    from metier.supplies import Mode, Pin
    from metier.supply.state import Pending
    from metier.supplying.deciding import Weighed
    from metier.supplying.places import Kept, Place


class Landing(NamedTuple):
    """A skill that gets another version: its pin before and after, and the working copy's digest, which must still be that."""

    before: Pin
    after: Pin
    local: str
    mode: Mode
    weighed: Weighed


def land(library: Library, place: Place, kept: Kept, landings: Sequence[Landing], changer: Changer, what: str, *,
         pending: Iterable[Pending]) -> list[str]:  # fmt: skip
    """Change everything at once; the trees are in the store already. Gives what was left alone, in words."""
    moves, notes = list[applying.Move](), list[str]()
    for one in landings:
        switches, left = following(place, one.before, one.after.digest, one.local)
        notes += [f"{path} was changed by itself, and stays as it is" for path in left]
        moves.append(applying.Move(one.after.name, one.after, switches, what, one.before))
    applying.apply(library, place, kept, moves, changer, pending=pending)
    return notes


def keep(library: Library, place: Place, pin: Pin, local: str) -> None:
    """Put the working copy into the store; `changed` when it is no longer what was looked at."""
    working = deploying.working_of(place, pin)
    if places.store_of(library).keep(working) != local:
        raise changed(working)


def changed(what: str) -> StoreError:
    """Make the error for something that somebody else changed while it was looked at."""
    return StoreError(f"{what} was changed while this was looked at; nothing was done", code="changed", hint="say it again")


def following(place: Place, pin: Pin, digest: str, local: str) -> tuple[tuple[Switch, ...], list[str]]:
    """Give the switches that bring a skill to a digest: the working copy, and copies that are still what they were made.

    What is missing stays missing, for `sync` to restore; what somebody changed by itself stays, and is named.
    """
    states, working = deploying.states(place, pin.targets), deploying.working_of(place, pin)
    found, left = dict[str, Switch](), list[str]()
    for target in pin.targets:
        path = deploying.path_of(place, target)
        state = local if path == working else states[path]
        after = deploying.wanted_state(place, target, digest, working)
        if path in found or state == after:
            continue
        if path == working or state in {pin.digest, pin.base}:
            found[path] = Switch(path, deploying.below(place, path), state, after)
        elif state:
            left.append(path)
    return tuple(found.values()), left


def reported(library: Library, place: Place, landings: Sequence[Landing], what: str) -> list[Installed]:
    """Write down what was done, in the decisions and in the audit log, all at once."""
    paths = [deploying.working_of(place, one.after) for one in landings]
    vouched(library, place, [(one.weighed, path) for one, path in zip(landings, paths, strict=True)], what)
    recording.note(library, [
        recording.event(library, what, "done", name=pin.name, digest=pin.digest, path=path, origin=pin.source, ref=pin.ref,
                        commit=pin.commit, verdict=pin.verdict.level, mode=mode)
        for (_before, pin, _local, mode, _weighed), path in zip(landings, paths, strict=True)
    ])  # fmt: skip
    library.turned()  # now that it is written down who let them in
    return [Installed(one.after.name, one.after.digest, path, one.mode, one.after.targets)
            for one, path in zip(landings, paths, strict=True)]  # fmt: skip
