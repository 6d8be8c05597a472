"""`lock export` and `lock import`: records exchanged with other tools. No skill's bytes are
touched, in either direction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.audit import log
from metier.discover.io import disk
from metier.errors import (
    ConfigError,
    IntegrityError,
    NotFoundError,
    RefusedError,
    SourceError,
    UsageError,
)
from metier.supply import adopt, deploy, fetch, places
from metier.supply.io import lock_file
from metier.supply.io.lock_file import read_small_file
from metier.supply.model import Origin
from metier.supply.places import changer_of, hands_of, place_of, store_of
from metier.supply.records import apm, clawhub, gh, hermes, npx
from metier.supply.records.foreign import MAX_RECORD_BYTES, RecordedFile, RecordHash
from metier.supply.safe_names import name_fault, path_fault
from metier.supply.sources.source_name import canonical, request_of
from metier.trust.io import decisions_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from metier.context import Context
    from metier.model import Texts
    from metier.store.io.tree_store import Store
    from metier.supply.model import Lock, Pin
    from metier.supply.places import InstallPlace
    from metier.supply.records.foreign import ForeignSkill

    Writer = Callable[[Lock, bytes | None, str, Mapping[str, RecordHash]], bytes]


class ExchangeOutcome(NamedTuple):
    """What was read from or written to another tool's lock file."""

    format: str
    file: str
    names: Texts
    skipped: tuple[tuple[str, str], ...]
    """Each skill that was not, and why."""
    notes: Texts = ()


class _RecordFormat(NamedTuple):
    """One format in one scope."""

    file: str
    """Where its record lies, below the project or the home folder."""
    read: Callable[[bytes], tuple[ForeignSkill, ...]]
    write: Writer
    carries: Callable[[Pin], str]
    mark: Callable[[Sequence[RecordedFile]], RecordHash] | None
    loses: Texts
    upstream: bool = False
    """Whether its hash is of what the source gave, not of what lies here."""


_HERMES = _RecordFormat(
    hermes.USER, hermes.read, hermes.write, hermes.carries, hermes.mark, hermes.LOSES
)
_CLAWHUB = _RecordFormat(
    clawhub.PROJECT, clawhub.read, clawhub.write, clawhub.carries, None, clawhub.LOSES
)
_APM = _RecordFormat(apm.PROJECT, apm.read, apm.write, apm.carries, apm.mark, apm.LOSES)
_FORMATS = {
    ("npx", False): _RecordFormat(
        npx.PROJECT, npx.read, npx.write, npx.carries, npx.mark, npx.LOSES
    ),
    ("npx", True): _RecordFormat(
        npx.USER, npx.read, npx.write_user, npx.carries, npx.mark_user, npx.LOSES, upstream=True
    ),
    ("gh", True): _RecordFormat(
        gh.USER, gh.read, gh.write_user, gh.carries, gh.mark_user, gh.LOSES, upstream=True
    ),
    ("hermes", True): _HERMES,
    ("clawhub", False): _CLAWHUB,
    ("clawhub", True): _CLAWHUB,
    ("apm", False): _APM,
    ("apm", True): _APM._replace(file=apm.USER),
}
NOTHING = "there was nothing to write, so nothing was"
FORMATS = ("npx", "gh", "hermes", "clawhub", "apm")


def export_lock(context: Context, format: str, file: str, *, user: bool) -> ExchangeOutcome:  # noqa: A002 - the option's name
    """Write the lock as another tool's record; what that record says of other skills, and more of
    these, stays.
    """
    how = _format(format, user=user)
    place = place_of(context, user=user)
    with changer_of(context).alone():
        kept = places.read(place)
        top, path = _file_below(context, place, how, file)
        whole = f"{top}/{path}"
        skipped = [(pin.name, why) for pin in kept.lock.pins if (why := how.carries(pin))]
        names = tuple(pin.name for pin in kept.lock.pins if not how.carries(pin))
        marks, notes = _hashes(context, how, [pin for pin in kept.lock.pins if pin.name in names])
        before = read_small_file(whole, MAX_RECORD_BYTES)
        data = how.write(kept.lock, before, decisions_file.now(), marks)
        if names and data != before:
            lock_file.put_file(hands_of(context), top, path, data)
    log.record(context, "lock-export", "done", path=whole, asked=format)
    return ExchangeOutcome(
        format,
        whole,
        names,
        tuple(skipped),
        (*kept.lock.notes, *(how.loses if names else (NOTHING,)), *notes),
    )


def import_record(context: Context, format: str, file: str, *, user: bool) -> ExchangeOutcome:  # noqa: A002 - the same
    """Put skills that another tool installed under the lock, where they lie; one that cannot be is
    named with the reason.
    """
    how = _format(format, user=user)
    place = place_of(context, user=user)
    top, path = _file_below(context, place, how, file)
    data = read_small_file(f"{top}/{path}", MAX_RECORD_BYTES)
    if data is None:
        raise NotFoundError(
            f"there is no {top}/{path}",
            hint="give the file: metier lock import FILE --format FORMAT",
        )
    names = []
    skipped = []
    notes: list[str] = []
    for one in how.read(data):
        try:
            names.append(_import_one(context, place, how, one, notes))
        except (
            ConfigError,
            IntegrityError,
            NotFoundError,
            RefusedError,
            SourceError,
            UsageError,
        ) as error:
            skipped.append((one.name, error.message))
    log.record(context, "lock-import", "done", path=f"{top}/{path}", asked=format, count=len(names))
    return ExchangeOutcome(format, f"{top}/{path}", tuple(names), tuple(skipped), tuple(notes))


def _format(format: str, *, user: bool) -> _RecordFormat:  # noqa: A002 - the same
    if format not in FORMATS:
        raise UsageError(
            f"there is no format '{format}'", hint=f"it is one of {', '.join(FORMATS)}"
        )
    how = _FORMATS.get((format, user))
    if how is None:
        raise UsageError(f"'{format}' keeps its record in the home folder only", hint="add --user")
    return how


def _file_below(
    context: Context, place: InstallPlace, how: _RecordFormat, file: str
) -> tuple[str, str]:
    """Give a folder, and a path below it: a file that was named may lie anywhere, any other only in
    this place.
    """
    if not file:
        return place.base, how.file
    top, _, name = disk.absolute(file, context.cwd, context.home).rpartition("/")
    return top or "/", name


def _hashes(
    context: Context, how: _RecordFormat, pins: Sequence[Pin]
) -> tuple[dict[str, RecordHash], list[str]]:
    """Give that tool's own hashes of skills, as far as the store has their bytes."""
    store = store_of(context)
    marks = {}
    notes = []
    for pin in pins if how.mark is not None else ():
        digest = pin.base if how.upstream else pin.digest
        if not store.has(digest):
            notes.append(
                f"{pin.name}: its bytes are not in the store, so its hash stays as it was; "
                f"'metier sync' fetches them"
            )
            continue
        marks[pin.name] = _hash(how, store, digest)
        notes += [f"{pin.name}: {marks[pin.name].note}"] if marks[pin.name].note else []
    return marks, notes


def _hash(how: _RecordFormat, store: Store, digest: str) -> RecordHash:
    assert how.mark is not None
    plain = [file for file in store.files(digest) if file.mode != "link"]
    return how.mark(
        [RecordedFile(file.path, store.read(digest, file.path), bool(file.mode)) for file in plain]
    )


def _import_one(
    context: Context, place: InstallPlace, how: _RecordFormat, one: ForeignSkill, notes: list[str]
) -> str:
    folder = _folder(context, place, one)
    name = folder.rpartition("/")[2]
    origin, path, why = _origin(context, place, one, folder)
    pin = adopt.adopt_known(context, place, folder, name, origin, path=path)
    if why:
        notes.append(f"{name}: {why}; it has no source to be updated from")
    inside = (
        clawhub.INSIDE
        if how is _CLAWHUB and any(file.path == clawhub.INSIDE for file in pin.files)
        else ""
    )
    if inside and clawhub.origin_version(store_of(context).read(pin.digest, inside)) not in {
        "",
        one.version,
    }:
        notes.append(
            f"{name}: its own {inside} tells of another version than the record, which counts"
        )
    if one.digest_hint and how.mark is not None:
        mark = _hash(how, store_of(context), pin.digest)
        known = {mark.whole, *(value for file, value in mark.files if file == "SKILL.md")} - {""}
        if known and one.digest_hint not in known:
            notes.append(
                f"{name}: it is not what that tool recorded: it was edited since, or the record "
                f"is an old one"
            )
    return name


def _folder(context: Context, place: InstallPlace, one: ForeignSkill) -> str:
    """Give the folder that a record means: one of those that agents read, here and through no link
    (HE-42).
    """
    name = one.folder.rpartition("/")[2]
    fault = path_fault(one.folder) or name_fault(name)
    if fault:
        raise RefusedError(
            f"the record names no folder that could be its own: {fault}",
            hint="check the record",
            code="outside",
        )
    folder = f"{place.base}/{one.folder}"
    if disk.kind_of(folder) is None:
        raise NotFoundError(f"it is not there: {folder}", hint="install it with metier add")
    if disk.real(folder) != folder or disk.kind_of(folder) != disk.FOLDER:
        raise RefusedError(
            f"{folder} is no folder, or leads through a link",
            hint="adopt it by its own path",
            code="outside",
        )
    if not deploy.is_read(context, place, one.folder.rpartition("/")[0]):
        raise RefusedError(
            f"{folder} is not in a folder that agents read",
            hint="move it to .agents/skills",
            code="outside",
        )
    return folder


def _origin(
    context: Context, place: InstallPlace, one: ForeignSkill, folder: str
) -> tuple[Origin, str, str]:
    """Give where a skill is from, held against the same rules as what a person writes; else itself,
    and why.
    """
    if not one.source:
        return Origin("folder", folder), "", "the record names no source that metier can fetch from"
    try:
        if one.kind == "folder":
            source = disk.absolute(one.source, place.base, context.home)
            return Origin("folder", source), _path_in_folder(context, one, source), ""
        request = request_of(one.kind, one.source, one.ref, one.path)
        return Origin(one.kind, canonical(request), request.ref, one.commit), request.path, ""
    except (UsageError, RefusedError, NotFoundError, SourceError) as error:
        return Origin("folder", folder), "", f"the source in the record is none: {error.message}"


def _path_in_folder(context: Context, one: ForeignSkill, source: str) -> str:
    """Say where in a folder of this machine a skill lies: a record names the folder alone, which
    may hold many.
    """
    with fetch.open_source(context, request_of("folder", source, "", one.path)) as opened:
        found = [skill for skill in opened.pickings.skills if skill.name == one.name]
    if len(found) != 1:
        what = "no skill" if not found else "several skills"
        raise NotFoundError(f"{source} has {what} named '{one.name}'", hint="adopt it by its path")
    return found[0].path
