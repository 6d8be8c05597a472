"""`adopt`: a skill that lies on disk already comes under the lock, as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.audit import log
from metier.discover.agents import AGENTS
from metier.discover.io import disk
from metier.errors import NotFoundError, RefusedError, UsageError
from metier.supply import apply, deploy, fetch, places
from metier.supply.deploy import folders_of
from metier.supply.judge import SkillJudge, unscanned
from metier.supply.model import Installed, InstallTarget, Origin, Outcome, Plan, Refusal
from metier.supply.places import WORKING_FOLDER, changer_of, check_not_owned, store_of
from metier.supply.safe_names import safe_name
from metier.trust.decide import refuse_by_policy

if TYPE_CHECKING:
    from metier.context import Context
    from metier.supply.model import Pin
    from metier.supply.places import InstallPlace


def adopt(context: Context, path: str, *, source: str, user: bool | None) -> Outcome:
    """Lock the skill at a path without touching a byte of it; with a source, that is where updates
    come from.
    """
    folder = disk.real(disk.absolute(path, context.cwd, context.home))
    if disk.kind_of(folder) != disk.FOLDER:
        raise NotFoundError(f"there is no folder {path}", hint="give the folder of a skill")
    place = _place_around(context, folder, user)
    name = safe_name(folder.rpartition("/")[2])
    origin = Origin("folder", folder)
    inside = ""
    base = ""
    if source:
        origin, inside, base = _upstream(context, source, name)
    pin = adopt_known(context, place, folder, name, origin, path=inside, base=base)
    return Outcome(Plan(), (Installed(name, pin.digest, folder, "add", pin.targets),))


def adopt_known(
    context: Context,
    place: InstallPlace,
    folder: str,
    name: str,
    origin: Origin,
    *,
    path: str = "",
    base: str = "",
) -> Pin:
    """Lock a folder under a name, from an origin that is known; its bytes are judged, kept in the
    store, and not touched.
    """
    store = store_of(context)
    changer = changer_of(context)
    with SkillJudge(context) as scales, changer.alone():
        check_not_owned(context, place, (name,))
        kept = places.read(place)
        if kept.lock.named(name) is not None:
            raise RefusedError(
                f"'{name}' is already in the lock",
                code="locked",
                hint=f"see: metier history {name}",
            )
        target = _target(context, place, folder, name)
        weighed = scales.weigh(folder, name, origin, place.scope, folder)
        if isinstance(weighed, Refusal):
            raise RefusedError(
                f"'{name}' can't be adopted: {'; '.join(weighed.reasons)}",
                hint=f"metier check {folder}",
            )
        if ruled := weighed.decision.ruled_on("install"):
            raise refuse_by_policy(name, "can't be adopted", ruled)
        digest = store.keep(folder)
        changed = unscanned(weighed, digest)
        if changed is not None:
            raise RefusedError(
                f"'{name}' can't be adopted: {'; '.join(changed.reasons)}", hint="try again"
            )
        targets = (target,)
        pin = fetch.pin_of(
            place, origin, path, weighed, digest, base or digest, store.files(digest), targets
        )
        apply.apply(context, place, kept, [apply.PinChange(name, pin, (), "adopt")], changer)
    log.record(
        context,
        "adopt",
        "done",
        name=name,
        digest=digest,
        path=folder,
        origin=origin.source,
        verdict=weighed.verdict.level,
    )
    return pin


def _place_around(context: Context, folder: str, user: bool | None) -> InstallPlace:  # noqa: FBT001 - which of the two, or whichever it is in
    """Give the place that a folder belongs to."""
    for place in places.places(context, user):
        if folder.startswith(f"{place.base}/") and deploy.is_read(
            context, place, folder[len(place.base) + 1 :].rpartition("/")[0]
        ):
            return place
    raise UsageError(
        f"{folder} is not in a folder that agents read",
        hint="move it to .agents/skills, or: metier add PATH",
    )


def _target(context: Context, place: InstallPlace, folder: str, name: str) -> InstallTarget:
    """Give the target that a folder on disk is: the working copy where it lies."""
    relative = folder[len(place.base) + 1 :]
    parent = relative.rpartition("/")[0]
    if parent == WORKING_FOLDER:
        return InstallTarget("", f"{WORKING_FOLDER}/{name}", "folder")
    agent = next(agent for agent in AGENTS if parent in folders_of(context, place, agent))
    return InstallTarget(agent.id, relative, "folder")


def _upstream(context: Context, said: str, name: str) -> tuple[Origin, str, str]:
    """Find the skill in the source it is said to come from: what it is now is the base of the next
    merge.
    """
    with (
        fetch.open_quarantine(context) as desk,
        fetch.open_source(context, fetch.request_for(context, said)) as source,
    ):
        named = [
            one
            for one in source.pickings.skills
            if one.name == name or one.path.rpartition("/")[2] == name
        ]
        if len(named) != 1:
            what = "has no skill" if not named else "has several skills"
            raise NotFoundError(
                f"{said} {what} '{name}'", hint="give the path inside the source: SOURCE#REF:PATH"
            )
        laid = fetch.lay_out(context, desk, source, named[0])
        if isinstance(laid, Refusal):
            raise RefusedError(
                f"'{name}' of {said} is refused: {'; '.join(laid.reasons)}",
                hint="adopt it without --source",
            )
        fetch.keep_fetched(store_of(context), laid)
        return laid.origin, laid.picked.path, laid.digest
