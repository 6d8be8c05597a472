"""`lock export` and `lock import`: records exchanged with other tools. No skill's bytes are touched, in either direction."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier import recording
from metier.discover import disk
from metier.discover.agents import AGENTS
from metier.errors import ConfigError, IntegrityError, NotFoundError, RefusedError, SourceError, UsageError
from metier.supplies import Origin
from metier.supply.files import disk as files
from metier.supply.pins import name_fault, path_fault
from metier.supply.putting import disk as putting
from metier.supply.records import apm, clawhub, gh, hermes, npx
from metier.supply.records.foreign import MOST_BYTES, Held, Mark
from metier.supply.sources import canonical, request_of
from metier.supplying import adopting, deploying, places
from metier.trust import disk as decisions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from metier.app import Library
    from metier.store.disk import Store
    from metier.supplies import Lock, Pin
    from metier.supply.records.foreign import Foreign
    from metier.supplying.places import Place

    Writer = Callable[[Lock, bytes | None, str, Mapping[str, Mark]], bytes]


class Carried(NamedTuple):
    """What was carried from or to another tool's record."""

    format: str
    file: str
    names: tuple[str, ...]
    skipped: tuple[tuple[str, str], ...]
    """Each skill that was not, and why."""
    notes: tuple[str, ...] = ()


class _Format(NamedTuple):
    """One format in one scope."""

    file: str
    """Where its record lies, below the project or the home folder."""
    read: Callable[[bytes], tuple[Foreign, ...]]
    write: Writer
    carries: Callable[[Pin], str]
    mark: Callable[[Sequence[Held]], Mark] | None
    loses: tuple[str, ...]
    upstream: bool = False
    """Whether its hash is of what the source gave, not of what lies here."""


_HERMES = _Format(hermes.USER, hermes.read, hermes.write, hermes.carries, hermes.mark, hermes.LOSES)
_CLAWHUB = _Format(clawhub.PROJECT, clawhub.read, clawhub.write, clawhub.carries, None, clawhub.LOSES)
_APM = _Format(apm.PROJECT, apm.read, apm.write, apm.carries, apm.mark, apm.LOSES)
_FORMATS = {
    ("npx", False): _Format(npx.PROJECT, npx.read, npx.write, npx.carries, npx.mark, npx.LOSES),
    ("npx", True): _Format(npx.USER, npx.read, npx.write_user, npx.carries, npx.mark_user, npx.LOSES, upstream=True),
    ("gh", True): _Format(gh.USER, gh.read, gh.write_user, gh.carries, gh.mark_user, gh.LOSES, upstream=True),
    ("hermes", True): _HERMES,
    ("clawhub", False): _CLAWHUB,
    ("clawhub", True): _CLAWHUB,
    ("apm", False): _APM,
    ("apm", True): _APM._replace(file=apm.USER),
}
NOTHING = "there was nothing to write, so nothing was"
FORMATS = ("npx", "gh", "hermes", "clawhub", "apm")


def export(library: Library, format: str, file: str, *, user: bool) -> Carried:  # noqa: A002 - the option's name
    """Write the lock as another tool's record; what that record says of other skills, and more of these, stays."""
    how, place = _format(format, user=user), places.place_of(library, user=user)
    with places.changer_of(library).alone():
        kept = places.read(place)
        top, path = _aim(library, place, file or how.file, given=bool(file))
        whole = f"{top}/{path}"
        skipped = [(pin.name, why) for pin in kept.lock.pins if (why := how.carries(pin))]
        names = tuple(pin.name for pin in kept.lock.pins if not how.carries(pin))
        marks, notes = _marks(library, how, [pin for pin in kept.lock.pins if pin.name in names])
        before = files.small(whole, MOST_BYTES)
        data = how.write(kept.lock, before, decisions.now(), marks)
        if names and data != before:
            putting.put(places.hands_of(library), top, path, data)
    recording.record(library, "lock-export", "done", path=whole, asked=format)
    return Carried(format, whole, names, tuple(skipped), (*kept.lock.notes, *(how.loses if names else (NOTHING,)), *notes))


def take(library: Library, format: str, file: str, *, user: bool) -> Carried:  # noqa: A002 - the same
    """Put skills that another tool installed under the lock, where they lie; one that cannot be is named with the reason."""
    how, place = _format(format, user=user), places.place_of(library, user=user)
    top, path = _aim(library, place, file or how.file, given=bool(file))
    data = files.small(f"{top}/{path}", MOST_BYTES)
    if data is None:
        raise NotFoundError(f"there is no {top}/{path}", hint="give the file: metier lock import FILE --format FORMAT")
    names: list[str] = []
    skipped: list[tuple[str, str]] = []
    notes: list[str] = []
    for one in how.read(data):
        try:
            names.append(_taken(library, place, how, one, notes))
        except (ConfigError, IntegrityError, NotFoundError, RefusedError, SourceError, UsageError) as error:
            skipped.append((one.name, error.message))
    recording.record(library, "lock-import", "done", path=f"{top}/{path}", asked=format, count=len(names))
    return Carried(format, f"{top}/{path}", tuple(names), tuple(skipped), tuple(notes))


def _format(format: str, *, user: bool) -> _Format:  # noqa: A002 - the same
    if format not in FORMATS:
        raise UsageError(f"there is no format '{format}'", hint=f"it is one of {', '.join(FORMATS)}")
    how = _FORMATS.get((format, user))
    if how is None:
        raise UsageError(f"'{format}' keeps its record in the home folder only", hint="add --user")
    return how


def _aim(library: Library, place: Place, file: str, *, given: bool) -> tuple[str, str]:
    """Give a folder, and a path below it: a file that was named may lie anywhere, any other only in this place."""
    if not given:
        return place.base, file
    top, _, name = disk.absolute(file, library.cwd, library.home).rpartition("/")
    return top or "/", name


def _marks(library: Library, how: _Format, pins: Sequence[Pin]) -> tuple[dict[str, Mark], list[str]]:
    """Give that tool's own hashes of skills, as far as the store has their bytes."""
    store, marks, notes = places.store_of(library), dict[str, Mark](), list[str]()
    for pin in pins if how.mark is not None else ():
        digest = pin.base if how.upstream else pin.digest
        if not store.has(digest):
            notes.append(f"{pin.name}: its bytes are not in the store, so its hash stays as it was; 'metier sync' fetches them")
            continue
        marks[pin.name] = _mark(how, store, digest)
        notes += [f"{pin.name}: {marks[pin.name].note}"] if marks[pin.name].note else []
    return marks, notes


def _mark(how: _Format, store: Store, digest: str) -> Mark:
    assert how.mark is not None
    plain = [file for file in store.files(digest) if file.mode != "link"]
    return how.mark([Held(file.path, store.read(digest, file.path), bool(file.mode)) for file in plain])


def _taken(library: Library, place: Place, how: _Format, one: Foreign, notes: list[str]) -> str:
    folder = _folder(library, place, one)
    name = folder.rpartition("/")[2]
    origin, path, why = _origin(one, folder)
    pin = adopting.adopt_known(library, place, folder, name, origin, path=path)
    if why:
        notes.append(f"{name}: {why}; it has no source to be updated from")
    inside = clawhub.INSIDE if how is _CLAWHUB and any(file.path == clawhub.INSIDE for file in pin.files) else ""
    if inside and clawhub.origin_version(places.store_of(library).read(pin.digest, inside)) not in {"", one.version}:
        notes.append(f"{name}: its own {inside} tells of another version than the record, which counts")
    if one.digest_hint and how.mark is not None:
        mark = _mark(how, places.store_of(library), pin.digest)
        known = {mark.whole, *(value for file, value in mark.files if file == "SKILL.md")} - {""}
        if known and one.digest_hint not in known:
            notes.append(f"{name}: it is not what that tool recorded: it was edited since, or the record is an old one")
    return name


def _folder(library: Library, place: Place, one: Foreign) -> str:
    """Give the folder that a record means: one of those that agents read, here and through no link (HE-42)."""
    name = one.folder.rpartition("/")[2]
    fault = path_fault(one.folder) or name_fault(name)
    if fault:
        raise RefusedError(f"the record names no folder that could be its own: {fault}", hint="check the record", code="outside")
    folder = f"{place.base}/{one.folder}"
    if disk.kind_of(folder) is None:
        raise NotFoundError(f"it is not there: {folder}", hint="install it with metier add")
    if disk.real(folder) != folder or disk.kind_of(folder) != disk.FOLDER:
        raise RefusedError(f"{folder} is no folder, or leads through a link", hint="adopt it by its own path", code="outside")
    parent = one.folder.rpartition("/")[0]
    known = (parent in deploying.folders_of(library, place, agent) for agent in AGENTS)
    if parent != places.WORKING and not any(known):
        raise RefusedError(f"{folder} lies in no folder that agents read", hint="move it to .agents/skills", code="outside")
    return folder


def _origin(one: Foreign, folder: str) -> tuple[Origin, str, str]:
    """Give where a skill is from, held against the same rules as what a person writes; else itself, and why."""
    if not one.source or one.kind == "folder":
        return Origin("folder", folder), "", "the record names no source that metier can fetch from"
    try:
        request = request_of(one.kind, one.source, one.ref, one.path)
        return Origin(one.kind, canonical(request), request.ref, one.commit), request.path, ""
    except (UsageError, RefusedError) as error:
        return Origin("folder", folder), "", f"the source in the record is none: {error.message}"
