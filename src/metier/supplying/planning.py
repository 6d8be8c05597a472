"""What would become of each skill in quarantine as things are now: a plan, or the reason why not."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.supplies import Refusal, Step
from metier.supply.paths import folded
from metier.supply.pins import pin_fault
from metier.supplying import deploying, owners, pinning, places
from metier.supplying.admitting import admitted
from metier.vetting.cases import TOP

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from metier.app import Library
    from metier.supplies import Mode, Picked, Pin, Target
    from metier.supplying.deciding import Weighed
    from metier.supplying.fetching import Laid
    from metier.supplying.places import Place


class Wish(NamedTuple):
    """What somebody asks for beside the source."""

    skills: tuple[str, ...] = ()
    everything: bool = False
    ref: str = ""
    to: tuple[str, ...] = ()
    user: bool = False
    name: str = ""
    force: bool = False
    accept_dangerous: bool = False
    reason: str = ""
    dry_run: bool = False


class Offer(NamedTuple):
    """A skill in quarantine that was judged, with where it would go."""

    laid: Laid
    weighed: Weighed
    targets: tuple[Target, ...]


def is_named(picked: Picked, names: Iterable[str]) -> bool:
    """Tell whether one of these names, or paths, or `plugin:name`, means this skill."""
    own = {picked.name, picked.path, picked.path.rpartition("/")[2], f"{picked.plugin}:{picked.name}"}
    return not own.isdisjoint(names)


class Locked(NamedTuple):
    """What the lock has, by all that an offer may meet there."""

    names: dict[str, Pin]
    keys: dict[tuple[str, str], str]
    alike: dict[str, str]
    """By names without the differences that some systems do not see."""
    owned: dict[str, str]
    """What belongs to plugins, by the same names."""


def planned(library: Library, place: Place, offers: Sequence[Offer], wish: Wish, *,
            asked: bool) -> tuple[list[Step], list[Refusal]]:  # fmt: skip
    """Say what would become of each offer as things are now."""
    pins = places.read(place).lock.pins
    alike = {folded(pin.name): pin.name for pin in pins}
    locked = Locked({pin.name: pin for pin in pins}, {pin.key: pin.name for pin in pins}, alike,
                    owners.owners(library, place))  # fmt: skip
    steps, refused = [], []
    for offer in offers:
        step = _step(library, place, locked, offer, wish, asked=asked)
        if isinstance(step, Refusal):
            refused.append(step)
        elif step is not None:
            steps.append(step)
    return steps, refused


def _step(library: Library, place: Place, locked: Locked, offer: Offer, wish: Wish, *, asked: bool) -> Step | Refusal | None:
    laid, weighed, targets = offer
    whose = owners.owned(locked.owned, weighed.name)
    if whose is not None:
        return whose
    pin = locked.names.get(weighed.name)
    if pin is not None:
        deploying.sure(library, place, pin)
        targets = deploying.joined(library, place, pin.targets, targets)
    states = deploying.states(place, targets)
    before = states[deploying.path_of(place, targets[0])]
    digest = pin.digest if pin is not None and _is_kept(place, laid, pin, before) and not wish.force else laid.digest
    never = _impossible(place, locked, offer._replace(targets=targets), states)
    standing = _in_the_way(laid, pin, place, targets, states, digest)
    if never or (standing and not wish.force):
        return Refusal(weighed.name, never or standing)
    refusal = admitted(weighed, force=wish.force, accept_dangerous=wish.accept_dangerous, asked=asked)
    if refusal is not None:
        return refusal
    origin, verdict, decision = laid.origin, weighed.verdict, weighed.decision
    mode = _mode(digest, pin, before)
    same = pin is not None and (pin.targets, pin.ref, pin.commit) == (targets, origin.ref, origin.commit)
    if mode == "unchanged" and same and not standing and not deploying.switches(place, targets, digest, states):
        return None
    return Step(weighed.name, mode, origin.source, laid.picked.path, origin.ref, origin.commit, digest,
                before if before.startswith("sha256:") else "", len(laid.files), laid.size, weighed.tokens, decision.level,
                verdict.level, verdict.score, verdict.findings[:TOP], decision.install,
                (*decision.reasons, *(f"replaces: {why}" for why in standing)), targets)  # fmt: skip


def _is_kept(place: Place, laid: Laid, pin: Pin, before: str) -> bool:
    """Tell whether the source has nothing new for a working copy whose edits the lock has: then those stay."""
    return laid.digest == pin.base and before == pin.digest and pin.key == _key(place, laid)


def _key(place: Place, laid: Laid) -> tuple[str, str]:
    return pinning.locked(place, laid.origin.source), laid.picked.path


def _mode(digest: str, pin: Pin | None, before: str) -> Mode:
    if pin is None or not before:
        return "add"
    return "unchanged" if before == digest else "fast_forward"


def _impossible(place: Place, locked: Locked, offer: Offer, states: dict[str, str]) -> tuple[str, ...]:
    """Say what keeps a skill out even by force: what the lock cannot hold, and what cannot be kept before it is replaced."""
    pin = pinning.pinned(place, offer.weighed, offer.laid, offer.targets)
    field, why = pin_fault(pin)
    found = [f"lock: its {field[0]} cannot be written down: {why}"] if why else []
    twice, alike = locked.keys.get(pin.key, pin.name), locked.alike.get(folded(pin.name), pin.name)
    found += [f"it is installed already, as '{twice}'"] if twice != pin.name else []
    found += [f"collision: '{alike}' is installed, and some systems take the two names for one"] if alike != pin.name else []
    odd = "is neither a folder that can be read whole nor a link; move it away first"
    return (*found, *(f"{path} {odd}" for path, state in states.items() if state == "other"))


def _in_the_way(laid: Laid, pin: Pin | None, place: Place, targets: Sequence[Target], states: dict[str, str],
                digest: str) -> tuple[str, ...]:  # fmt: skip
    """Say what lies where the skill would go and is not this skill, unedited: nothing of that is overwritten silently."""
    found = []
    if pin is not None and pin.key != _key(place, laid):
        found.append(f"another skill of this name is installed, from {pin.source} {pin.path}".rstrip() + "; --force replaces it")
    own = {"", laid.digest, digest, pin.base if pin is not None else ""}
    working = deploying.path_of(place, targets[0])
    for path, state in states.items():
        if state in own or state == deploying.wanted_state(place, _at(place, targets, path), digest, working):
            continue
        edited = pin is not None and state.startswith("sha256:")
        found.append(f"{path} was edited; 'metier update' merges" if edited else f"{path} is something else; --force replaces it")
    return tuple(found)


def _at(place: Place, targets: Sequence[Target], path: str) -> Target:
    return next(target for target in targets if deploying.path_of(place, target) == path)
