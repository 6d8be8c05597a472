"""What would become of each skill in quarantine as things are now: a plan, or the reason why
not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.supply import deploy, fetch, places
from metier.supply.deploy import check_targets, path_of, target_states, wanted_state
from metier.supply.judge import reason_to_refuse
from metier.supply.lock import pin_fault
from metier.supply.model import PlanStep, Refusal
from metier.supply.places import plugin_owners, refusal_if_owned
from metier.supply.safe_names import fold_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from metier.context import Context
    from metier.model import Texts
    from metier.supply.fetch import FetchedSkill
    from metier.supply.judge import JudgedSkill
    from metier.supply.model import InstallTarget, Mode, Pin, SourceSkill
    from metier.supply.places import InstallPlace


class AddOptions(NamedTuple):
    """What somebody asks for beside the source."""

    skills: Texts = ()
    everything: bool = False
    ref: str = ""
    to: Texts = ()
    user: bool = False
    name: str = ""
    force: bool = False
    accept_dangerous: bool = False
    reason: str = ""
    dry_run: bool = False
    no_deps: bool = False
    """Leave out what the skills need."""
    observe: str = "never"
    """Which skills are watched in the sandbox first: `never`, `caution`, `always`."""
    watch: Callable[[str, str], object] | None = None
    """Watches the skill in a folder, under its name; what was found counts from then on."""


class InstallOffer(NamedTuple):
    """A skill in quarantine that was judged, with where it would go."""

    laid: FetchedSkill
    weighed: JudgedSkill
    targets: tuple[InstallTarget, ...]


def is_named(picked: SourceSkill, names: Iterable[str]) -> bool:
    """Tell whether one of these names, or paths, or `plugin:name`, means this skill."""
    return not {
        picked.name,
        picked.path,
        picked.path.rpartition("/")[2],
        f"{picked.plugin}:{picked.name}",
    }.isdisjoint(names)


class LockIndex(NamedTuple):
    """What the lock has, by all that an offer may meet there."""

    names: dict[str, Pin]
    keys: dict[tuple[str, str], str]
    alike: dict[str, str]
    """By names without the differences that some systems do not see."""
    owned: dict[str, str]
    """What belongs to plugins, by the same names."""


def make_plan(
    context: Context,
    place: InstallPlace,
    offers: Sequence[InstallOffer],
    wish: AddOptions,
    *,
    asked: bool,
) -> tuple[list[PlanStep], list[Refusal]]:
    """Say what would become of each offer as things are now."""
    pins = places.read(place).lock.pins
    locked = LockIndex(
        {pin.name: pin for pin in pins},
        {pin.key: pin.name for pin in pins},
        {fold_name(pin.name): pin.name for pin in pins},
        plugin_owners(context, place),
    )
    steps = []
    refused = []
    for offer in offers:
        step = _step(context, place, locked, offer, wish, asked=asked)
        if isinstance(step, Refusal):
            refused.append(step)
        elif step is not None:
            steps.append(step)
    return steps, refused


def _step(
    context: Context,
    place: InstallPlace,
    locked: LockIndex,
    offer: InstallOffer,
    wish: AddOptions,
    *,
    asked: bool,
) -> PlanStep | Refusal | None:
    laid, weighed, targets = offer
    whose = refusal_if_owned(locked.owned, weighed.name)
    if whose is not None:
        return whose
    pin = locked.names.get(weighed.name)
    if pin is not None:
        check_targets(context, place, pin)
        targets = deploy.join_targets(context, place, pin.targets, targets)
    states = target_states(place, targets)
    before = states[path_of(place, targets[0])]
    digest: str = laid.digest
    if pin is not None and not wish.force and (laid.digest, before) == (pin.base, pin.digest):
        # The source has nothing new for a working copy whose edits the lock has: those stay.
        digest = pin.digest if pin.key == _key(place, laid) else digest
    never = _impossible(place, locked, offer._replace(targets=targets), states)
    standing = _in_the_way(laid, pin, place, targets, states, digest)
    if never or (standing and not wish.force):
        return Refusal(weighed.name, never or standing)
    refusal = reason_to_refuse(
        weighed, force=wish.force, accept_dangerous=wish.accept_dangerous, asked=asked
    )
    if refusal is not None:
        return refusal
    origin = laid.origin
    mode: Mode = "add"
    if pin is not None and before:
        mode = "unchanged" if before == digest else "fast_forward"
    same = pin is not None and (pin.targets, pin.ref, pin.commit, pin.dependency) == (
        targets,
        origin.ref,
        origin.commit,
        False,  # who asks for it by name makes it their own
    )
    if (
        mode == "unchanged"
        and same
        and not standing
        and not deploy.switches(place, targets, digest, states)
    ):
        return None
    step = weighed.step(
        mode,
        origin,
        path=laid.picked.path,
        digest=digest,
        before=before if before.startswith("sha256:") else "",
        files=laid.files,
        targets=targets,
    )
    return step._replace(reasons=(*step.reasons, *(f"replaces: {why}" for why in standing)))


def _key(place: InstallPlace, laid: FetchedSkill) -> tuple[str, str]:
    return fetch.source_in_lock(place, laid.origin.source), laid.picked.path


def _impossible(
    place: InstallPlace, locked: LockIndex, offer: InstallOffer, states: dict[str, str]
) -> Texts:
    """Say what keeps a skill out even by force: what the lock cannot hold, and what cannot be kept
    before it is replaced.
    """
    pin = fetch.pin_as_fetched(place, offer.weighed, offer.laid, offer.targets)
    field, why = pin_fault(pin)
    found = [f"lock: its {field[0]} cannot be written down: {why}"] if why else []
    twice = locked.keys.get(pin.key, pin.name)
    if twice != pin.name:
        found.append(f"it is already installed, as '{twice}'")
    alike = locked.alike.get(fold_name(pin.name), pin.name)
    if alike != pin.name:
        found.append(
            f"collision: '{alike}' is installed, and some systems take the two names for one"
        )
    odd = "is neither a readable folder nor a link; move it away first"
    return (*found, *(f"{path} {odd}" for path, state in states.items() if state == "other"))


def _in_the_way(
    laid: FetchedSkill,
    pin: Pin | None,
    place: InstallPlace,
    targets: Sequence[InstallTarget],
    states: dict[str, str],
    digest: str,
) -> Texts:
    """Say what lies where the skill would go and is not this skill, unedited: nothing of that is
    overwritten silently.
    """
    found = []
    if pin is not None and pin.key != _key(place, laid):
        found.append(
            f"another skill of this name is installed, from {pin.source} {pin.path}".rstrip()
            + "; --force replaces it"
        )
    own = {"", laid.digest, digest, pin.base if pin is not None else ""}
    working = path_of(place, targets[0])
    first = {path_of(place, target): target for target in reversed(targets)}
    for path, state in states.items():
        if state not in own | {wanted_state(place, first[path], digest, working)}:
            edited = pin is not None and state.startswith("sha256:")
            found.append(
                f"{path} was edited; 'metier update' merges"
                if edited
                else f"{path} is a different skill; --force replaces it"
            )
    return tuple(found)
