"""`adopt`: a skill that lies on disk already comes under the lock, as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.discover import disk
from metier.discover.agents import AGENTS
from metier.errors import NotFoundError, RefusedError, UsageError
from metier.supplies import Installed, Origin, Outcome, Plan, Refusal, Target
from metier.supply.paths import safe_name
from metier.supplying import applying, deploying, fetching, owners, pinning, places
from metier.supplying.deciding import Scales
from metier.supplying.places import WORKING

if TYPE_CHECKING:
    from metier.app import Library
    from metier.supplies import Pin
    from metier.supplying.places import Place


def adopt(library: Library, path: str, *, source: str, user: bool | None) -> Outcome:
    """Lock the skill at a path without touching a byte of it; with a source, that is where updates come from."""
    folder = disk.real(disk.absolute(path, library.cwd, library.home))
    if disk.kind_of(folder) != disk.FOLDER:
        raise NotFoundError(f"there is no folder {path}", hint="give the folder of a skill")
    place = _around(library, folder, user)
    name = safe_name(folder.rpartition("/")[2])
    origin, inside, base = Origin("folder", folder), "", ""
    if source:
        origin, inside, base = _upstream(library, source, name)
    pin = adopt_known(library, place, folder, name, origin, path=inside, base=base)
    return Outcome(Plan(), (Installed(name, pin.digest, folder, "add", pin.targets),))


def adopt_known(library: Library, place: Place, folder: str, name: str, origin: Origin, *, path: str = "", base: str = "") -> Pin:
    """Lock a folder under a name, from an origin that is known; its bytes are judged, kept in the store, and not touched."""
    store, changer = places.store_of(library), places.changer_of(library)
    with Scales(library) as scales, changer.alone():
        owners.sure(library, place, (name,))
        kept = places.read(place)
        if kept.lock.named(name) is not None:
            raise RefusedError(f"'{name}' is in the lock already", code="locked", hint=f"see: metier history {name}")
        target = _target(library, place, folder, name)
        weighed = scales.weigh(folder, name, origin, place.scope, folder)
        if isinstance(weighed, Refusal):
            raise RefusedError(f"'{name}' is not adopted: {'; '.join(weighed.reasons)}", hint=f"metier check {folder}")
        digest = store.keep(folder)
        targets = (target,)
        pin = pinning.pin_of(place, origin, path, weighed, digest, base or digest, store.files(digest), targets)
        applying.apply(library, place, kept, [applying.Move(name, pin, (), "adopt")], changer)
    applying.record(library, "adopt", "done", name, digest, path=folder, origin=origin.source, verdict=weighed.verdict.level)
    return pin


def _around(library: Library, folder: str, user: bool | None) -> Place:  # noqa: FBT001 - which of the two, or whichever it is in
    """Give the place that a folder belongs to."""
    for place in places.places(library, user):
        if folder.startswith(f"{place.base}/") and _folder_known(library, place, folder):
            return place
    raise UsageError(f"{folder} lies in no folder that agents read", hint="move it to .agents/skills, or: metier add PATH")


def _folder_known(library: Library, place: Place, folder: str) -> bool:
    parent = folder[len(place.base) + 1 :].rpartition("/")[0]
    return parent == WORKING or any(parent in deploying.folders_of(library, place, agent) for agent in AGENTS)


def _target(library: Library, place: Place, folder: str, name: str) -> Target:
    """Give the target that a folder on disk is: the working copy where it lies."""
    relative = folder[len(place.base) + 1 :]
    parent = relative.rpartition("/")[0]
    if parent == WORKING:
        return Target("", f"{WORKING}/{name}", "folder")
    agent = next(agent for agent in AGENTS if parent in deploying.folders_of(library, place, agent))
    return Target(agent.id, relative, "folder")


def _upstream(library: Library, said: str, name: str) -> tuple[Origin, str, str]:
    """Find the skill in the source it is said to come from: what it is now is the base of the next merge."""
    with fetching.desk(library) as desk, fetching.opened(library, fetching.request_for(library, said)) as source:
        named = [one for one in source.pickings.skills if one.name == name or one.path.rpartition("/")[2] == name]
        if len(named) != 1:
            what = "has no skill" if not named else "has several skills"
            raise NotFoundError(f"{said} {what} '{name}'", hint="give the path inside the source: SOURCE#REF:PATH")
        laid = fetching.lay(library, desk, source, named[0])
        if isinstance(laid, Refusal):
            raise RefusedError(f"'{name}' of {said} is refused: {'; '.join(laid.reasons)}", hint="adopt it without --source")
        store = places.store_of(library)
        store.take(laid.folder, laid.files)
        store.note(laid.digest, *laid.told[1:])
        return laid.origin, laid.picked.path, laid.digest
