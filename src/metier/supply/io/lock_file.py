"""Reads the lock, this machine's notes on it, and other small files that strangers may have put
there; writes archives, indexes and other tools' records. Says which skills of a project a lock has.

The lock itself is written by `supply.lock.lock_bytes`, and put in place with the skills it pins in
one change (`supply.apply`). Reading never goes through a link or a pipe, and never takes more than a
file may hold. Writing makes the folders on the way and refuses links there, and a reader sees the
old file or the new one.
"""

from __future__ import annotations

import os
import re
import time
from functools import lru_cache
from typing import TYPE_CHECKING

from metier.discover.io import disk
from metier.errors import MetierError, RefusedError, StoreError
from metier.store.io.safe_files import open_file
from metier.supply.local_state import MAX_STATE_BYTES, read_state
from metier.supply.lock import MAX_LOCK_BYTES, read_lock
from metier.supply.model import Lock

if TYPE_CHECKING:
    from metier.context import Context
    from metier.ports import DiskCalls
    from metier.supply.local_state import SupplyState
    from metier.supply.records.foreign import ForeignSkill
    from metier.trust.model import RecordedSkills


def read_lock_file(path: str) -> tuple[Lock, bytes | None]:
    """Give a lock, and its bytes, which must still be those when it is replaced; no file means an
    empty one.
    """
    data = read_small_file(path, MAX_LOCK_BYTES)
    return Lock() if data is None else _read_once(data), data


@lru_cache(maxsize=1)
def _read_once(data: bytes) -> Lock:
    """Read a lock. Whoever changes skills looks at the file several times, to be sure that it is
    still the same: the same bytes are the same lock.
    """
    return read_lock(data)


def read_state_file(path: str) -> tuple[SupplyState, bytes | None]:
    """Give this machine's notes on a lock, and their bytes."""
    data = read_small_file(path, MAX_STATE_BYTES)
    return read_state(data), data


def read_small_file(path: str, most: int) -> bytes | None:
    """Give the bytes of a file; nothing when there is none."""
    try:
        file = open_file(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    try:
        data = b""
        while len(data) <= most and (piece := os.read(file, 1 << 20)):
            data += piece
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    finally:
        os.close(file)
    if len(data) > most:
        raise _unreadable(path, f"it has more than {most:,} bytes")
    return data


def _unreadable(path: str, why: str) -> StoreError:
    return StoreError(
        f"cannot read {path}: {why}",
        hint="expected a regular file there; check it and its permissions",
    )


_DISKS = re.compile(r"/(?:mnt|Volumes|(?:run/)?media(?:/[^/]+)?|net(?:/[^/]+)?)")
"""Folders in which disks come and go, each with a folder of its own."""


def is_project_gone(lock: str) -> bool:
    """Tell whether the folder of a project is gone for good, as far as can be told: the folder it
    lay in is there and has something else in it. A disk that isn't mounted leaves none, or an empty
    one; one that is a project itself leaves the other disks.
    """
    project = os.path.dirname(lock)
    above = os.path.dirname(project)
    try:
        return (
            not _DISKS.fullmatch(above) and not os.path.lexists(project) and bool(os.listdir(above))
        )
    except OSError:
        return False


def days_since_written(path: str) -> float:
    """Give how many days ago a file was written; none where that cannot be told."""
    try:
        return (time.time() - os.lstat(path).st_mtime) / 86_400
    except OSError:
        return 0.0


TEMPORARY_SUFFIX = ".metier-new"
"""What the name of a file ends with while it is being written."""


def put_file(hands: DiskCalls, top: str, path: str, data: bytes) -> str:
    """Write bytes to `path` below the folder `top`, in place of a file there; give the whole
    path.
    """
    folder, _, name = path.rpartition("/")
    try:
        place = _make_folder(hands, top, folder)
        target = f"{place}/{name}"
        passing = f"{place}/.{name[-200:]}{TEMPORARY_SUFFIX}"
        if os.path.isdir(target) and not os.path.islink(target):
            raise RefusedError(
                f"{target} is a folder",
                hint="move it away, or choose another place",
                code="collision",
            )
        if os.path.lexists(passing):
            hands.remove(passing)  # of somebody who was stopped
        try:
            hands.write(passing, [data], 0o644)
            hands.sync(passing)
            hands.move(passing, target)
        except OSError:
            if os.path.lexists(passing):
                hands.remove(passing)
            raise
    except OSError as error:
        raise StoreError(
            f"cannot write {top}/{path}: {error.strerror or error}",
            hint="check the folder's permissions",
        ) from error
    return target


def _make_folder(hands: DiskCalls, top: str, folder: str) -> str:
    missing = []
    above = top
    while above and not os.path.lexists(above):
        missing.append(above)
        above = os.path.dirname(above)
    for path in reversed(missing):
        hands.make(path, 0o755)
    for step in filter(None, folder.split("/")):
        top = f"{top}/{step}"
        if os.path.islink(top):
            raise RefusedError(
                f"{top} is a link, so files would be written somewhere else",
                code="unsafe-link",
                hint="replace it with a folder, or name the other place yourself",
            )
        if not os.path.isdir(top):
            hands.make(top, 0o755)
    return top


# --- which skills of a project came with a tool

RECORD_FILES = {
    "skills-lock.json": "npx",
    ".agents/.skill-lock.json": "gh",
    ".hermes/skills/.hub/lock.json": "hermes",
    ".clawhub/lock.json": "clawhub",
    ".clawdhub/lock.json": "clawhub",
    "apm.lock.yaml": "apm",
    "apm.lock": "apm",
    ".apm/apm.lock.yaml": "apm",
    ".apm/apm.lock": "apm",
}
"""Every record that another tool may keep below a folder, which may be somebody's home too, and the
module that reads it; older versions of two tools had other names for theirs. Few projects have one,
so the readers are imported where one is met."""
SHARED_RECORD = ".agents/.skill-lock.json"
"""The one record at home that also has what was installed into projects: that of `gh skill`."""


def lock_files_in(context: Context, project: str) -> list[str]:
    """Give the path of each file that says which skills of a project a tool has put there."""
    mirror = _mirror_file(context, project)
    records = _record_files(context, project)
    return [*context.own_locks(project), *records, *([mirror] if mirror else ())]


def _record_files(context: Context, project: str) -> dict[str, str]:
    """Give the path of each record of another tool that may have skills of a project, and the
    module that reads it.
    """
    found = {f"{project}/{file}": reader for file, reader in RECORD_FILES.items()}
    state = context.env.get("XDG_STATE_HOME", "")
    if context.home:
        found[f"{os.path.realpath(context.home)}/{SHARED_RECORD}"] = "gh"
    if state.startswith("/"):
        found[f"{state}/skills/{SHARED_RECORD.rpartition('/')[2]}"] = "gh"
    return found


def read_recorded(context: Context, project: str) -> RecordedSkills | None:
    """Give the skills that the locks of a project have; nothing where one of them cannot be
    read.
    """
    from metier.trust.model import RecordedSkills, folded

    try:
        pins = [pin for lock in context.own_locks(project) for pin in read_lock_file(lock)[0].pins]
        records = _record_files(context, project).items()
        found = [one for file, reader in records for one in _read_record(file, reader)]
        mirrored = _mirrored_names(_mirror_file(context, project))
    except MetierError:
        return None
    names = {one.name for one in found} | {one.folder.rpartition("/")[2] for one in found}
    names |= {pin.name for pin in pins} | mirrored
    folders = {target.path for pin in pins for target in pin.targets}
    folders |= {one.folder for one in found if one.folder}
    return RecordedSkills(
        frozenset(map(folded, names - {""})), frozenset(f"{project}/{one}" for one in folders)
    )


def read_pinned(lock: str, base: str) -> dict[str, tuple[str, str]] | None:
    """Give the name and the digest that a lock of metier has for each of its places, by path and by
    canonical path; nothing where it cannot be read. The digest is of what the source gave: a `sync`
    also notes edits, and nobody said yes to those.
    """
    try:
        os.lstat(lock)
        pins = read_lock_file(lock)[0].pins
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (MetierError, OSError):
        return None
    found: dict[str, tuple[str, str]] = {}
    folders: dict[str, str] = {}
    for pin in pins:
        for target in pin.targets:
            place = f"{base}/{target.path}"
            found[place] = found[disk.real_below(place, folders)] = pin.name, pin.base
    return found


def _read_record(path: str, kind: str) -> tuple[ForeignSkill, ...]:
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}", hint="check it") from error
    from importlib import import_module

    from metier.supply.records.foreign import MAX_RECORD_BYTES

    reader = import_module(f"metier.supply.records.{kind}")
    data = read_small_file(path, MAX_RECORD_BYTES)
    found: tuple[ForeignSkill, ...] = (
        getattr(reader, "read_complete", reader.read)(data) if data is not None else ()
    )
    return found


def _mirror_file(context: Context, project: str) -> str:
    """Give the file of what is mirrored from plugins in a project; nothing where no plugin ever
    was.
    """
    if not context.data or not os.path.lexists(f"{context.data}/plugins"):
        return ""
    from metier.supply import places

    state = places.project_place(context, project).state.rpartition("/")[2]
    return f"{context.data}/{places.MIRROR_FOLDER}/{state}"


def _mirrored_names(file: str) -> set[str]:
    if not file:
        return set()
    from metier.supply import places

    mirror = places.mirror_at(file)
    skills = mirror.skills if mirror is not None else ()
    return {one.name for one in skills if one.owner.startswith(places.PLUGIN_PREFIX)}
