"""Where the mirrored plugins of a project or of the user are noted, and the one change that every verb about them ends in."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import NotFoundError, StoreError
from metier.keeping import disk as keeping
from metier.mirroring.faces import kept_face
from metier.plugins import candidates
from metier.plugins.ledger import Ledger
from metier.plugins.moves import OPEN
from metier.plugins.state import mirror_bytes, read_mirror, trimmed
from metier.store.changing.disk import SAVED, Change, Replace
from metier.store.changing.journal import write_saved
from metier.supply.files import disk as files
from metier.supplying import deploying, places
from metier.supplying.owners import FOLDER, MIRROR_BYTES
from metier.trust import disk as decisions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from metier.app import Library
    from metier.mirrors import Candidate, Mirror, Plugin, Skill
    from metier.store.changing.disk import Changer, Switch
    from metier.supplying.places import Place


class Ground(NamedTuple):
    """One place, what is mirrored there, and the bytes that say so, which must still be those when they are replaced."""

    place: Place
    mirror: Mirror
    data: bytes | None


def folder_of(library: Library) -> str:
    """Give the folder with everything that is noted about plugins."""
    return f"{places.home_of(library)}/{FOLDER}"


def file_of(library: Library, place: Place) -> str:
    """Give the file with the mirror of a place."""
    return f"{folder_of(library)}/{place.state.rpartition('/')[2]}"


def read(library: Library, place: Place) -> Ground:
    """Read what is mirrored in a place; no file means nothing."""
    path = file_of(library, place)
    data = files.small(path, MIRROR_BYTES)
    return Ground(place, read_mirror(data, path)._replace(place=place.lock), data)


def is_current(library: Library, ground: Ground) -> bool:
    """Tell whether a place is still noted as it was when it was read."""
    return files.small(file_of(library, ground.place), MIRROR_BYTES) == ground.data


def grounds(library: Library, user: bool | None) -> tuple[Ground, ...]:  # noqa: FBT001 - which of the two, or both
    """Give the places that a verb is about, the project's before the user's."""
    return tuple(read(library, place) for place in places.places(library, user))


def with_plugin(library: Library, plugin_id: str, user: bool | None) -> tuple[Ground, Plugin]:  # noqa: FBT001 - the same
    """Give the place where a plugin was enabled."""
    for ground in grounds(library, user):
        plugin = ground.mirror.plugin(plugin_id)
        if plugin is not None:
            return ground, plugin
    raise NotFoundError(f"Unknown plugin state: {plugin_id}", hint="'metier plugin list' shows all")  # BE-23


def with_skill(library: Library, name: str, user: bool | None) -> tuple[Ground, Skill]:  # noqa: FBT001 - the same
    """Give the place that has versions of a skill."""
    for ground in grounds(library, user):
        skill = ground.mirror.skill(name)
        if skill is not None:
            return ground, skill
    raise NotFoundError(f"'{name}' has no versions here", hint="'metier history NAME' is for what was installed or mirrored")


def with_candidate(library: Library, ident: str, user: bool | None = None) -> tuple[Ground, Candidate]:  # noqa: FBT001 - the same
    """Give the place where a candidate waits, else where it waited; of a project and the user, who may have the same, the first."""
    found = [(ground, one) for ground in grounds(library, user) if (one := ground.mirror.candidate(ident)) is not None]
    if not found:
        raise NotFoundError(f"there is no candidate '{ident}'", hint="'metier review list --all' shows all")
    return next((pair for pair in found if pair[1].status in OPEN), found[0])


def settle(library: Library, *, blocking: bool = True) -> None:
    """Finish or undo what a crash left, waiting for others no longer than `alone` does."""
    places.settle(library, _patience(library, blocking=blocking))


def _patience(library: Library, *, blocking: bool) -> float:
    return float(library.settings.plugins.wait_seconds) if blocking else 0.0


@contextmanager
def alone(library: Library, *, blocking: bool = True) -> Iterator[Changer]:
    """Hold the lock of all who change skills here, for no longer than the setting says, or not at all where it is held (BE-1)."""
    changer = places.changer_of(library)
    changer.wait = _patience(library, blocking=blocking)
    with changer.alone() as lines:
        library.warnings += lines
        claim(library, changer)
        yield changer


def apply(library: Library, ground: Ground, mirror: Mirror, switches: Sequence[Switch], changer: Changer) -> Ground:
    """Change working copies and what is noted about them, wholly or not at all. The caller holds the lock."""
    mirror = trimmed(mirror)
    data = mirror_bytes(mirror)
    if not switches and data == ground.data:
        return ground
    noted = Replace(file_of(library, ground.place), folder_of(library), ground.data, data)
    try:
        keeping.make(noted.below, library.home)
    except OSError as error:
        raise StoreError(f"cannot make {noted.below}: {error.strerror or error}", hint="check the permissions there") from error
    saved = changer.apply(Change(tuple(switches), (noted,)))
    library.turned()
    if not saved:
        return Ground(ground.place, mirror, data)
    library.warnings += [f"{one.path} was edited meanwhile; what it was is a version now" for one in saved]
    claim(library, changer)
    return read(library, ground.place)


def claim(library: Library, changer: Changer) -> None:
    """Note edits that lie in the store and are nobody's yet as versions of their skills; those of others wait for their own."""
    saved, _data = changer.unclaimed()
    for place in places.places(library, None) if saved else ():
        ground = read(library, place)
        if ground.mirror.skills:
            _claimed(library, ground, changer)


def _claimed(library: Library, ground: Ground, changer: Changer) -> None:
    saved, data = changer.unclaimed()
    owners = {path: skill.name for skill in ground.mirror.skills for path in _paths(ground.place, skill)}
    own = [one for one in saved if one.path in owners]
    if not own:
        return
    ledger, at = Ledger(ground.mirror), decisions.now()
    for one in own:
        skill = ledger.skills[owners[one.path]]
        candidates.edited(ledger, skill.name, kept_face(library, one.digest), at)
        ledger.skill(ledger.skills[skill.name]._replace(current=skill.current))  # it was replaced: it is kept, not in place
    rest = [one for one in saved if one not in own]
    left = Replace(f"{changer.folder}/{SAVED}", changer.folder, data, write_saved(rest) if rest else None)
    noted = Replace(file_of(library, ground.place), folder_of(library), ground.data, mirror_bytes(trimmed(ledger.mirror())))
    changer.apply(Change((), (noted, left)))


def _paths(place: Place, skill: Skill) -> Iterator[str]:
    for target in skill.targets:
        yield deploying.path_of(place, target)
