"""A client's own file changed so that it knows this server: what was there is kept beside it, and replaced in one step.

The file is the user's. One that cannot be read as what it should be is left alone, and so is one that a link leads to outside the
home folder, or outside the project.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.errors import ConfigError, RefusedError, StoreError, UsageError
from metier.keeping import disk as keeping
from metier.mcp import clients, merging

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metier.mcp.clients import Client, Started

BACKUP = ".metier-backup"
MOST_BACKUPS = 1_000
TRIES = 3
"""How often it is tried again when the client writes its file meanwhile."""
PLACEHOLDER = "TOKEN"
"""What stands for the token wherever something is printed."""


class Place(NamedTuple):
    """A client's file: where it is, and the folder that no link may lead out of."""

    file: str
    within: str
    project: bool = False


class Configured(NamedTuple):
    """What a client's file is to have, and what was done about it."""

    client: str
    file: str
    snippet: str
    changed: bool = False
    written: bool = False
    backup: str = ""
    notes: tuple[str, ...] = ()


class _Seen(NamedTuple):
    """A file as it was read."""

    data: bytes
    stat: os.stat_result | None


def command_here() -> tuple[str, ...]:
    """Give how this very metier is started from anywhere."""
    script = sys.argv[0] if sys.argv else ""
    if os.path.basename(script).removesuffix(".exe") == "metier" and os.path.isfile(script):
        return (os.path.abspath(script),)
    return (sys.executable or "python3", "-m", "metier")


def place_of(client: Client, *, env: Mapping[str, str], home: str | None, project: str = "", platform: str = sys.platform) -> Place:
    """Give the file to write: the user's, or with a project that project's."""
    if project:
        if not client.project:
            raise UsageError(f"{client.title} has no file in a project", hint="leave --project out")
        return Place(f"{project}/{client.project}", project, project=True)
    file = clients.place_of(client, platform, env, home)
    if not file or not os.path.isabs(file):
        raise UsageError(f"there is no place for {client.title}'s file", hint="set HOME")
    return Place(file, home if home and file.startswith(f"{home.rstrip('/')}/") else os.path.dirname(file))


def shown(client: Client, place: Place, started: Started) -> Configured:
    """Give what to paste into a client's file, with no token in it."""
    return Configured(client.id, place.file, _snippet(client, started))


def configure(client: Client, place: Place, started: Started, *, dry_run: bool = False) -> Configured:
    """Put this server into a client's file. What it has already stays, and the same again changes nothing."""
    if started.token and place.project:
        raise RefusedError("a token does not belong in a project's file, which others get too", code="shared-file",
                           hint="leave --project out, or --http")  # fmt: skip
    for _try in range(TRIES):
        found = _configured(client, place, started, dry_run=dry_run)
        if found is not None:
            return found
    raise StoreError(f"{place.file} changes all the time", hint=f"close {client.title}, and say it again")


def _configured(client: Client, place: Place, started: Started, *, dry_run: bool) -> Configured | None:
    """Read, change and write once; give nothing when the file changed meanwhile."""
    real = _real(place)
    seen = _read(real)
    after = _merged(client, real, seen.data, started)
    made = Configured(client.id, place.file, _snippet(client, started), changed=after != seen.data)
    if dry_run or not made.changed:
        return made
    mode, notes = _mode(place, seen, started)
    try:
        _folder(real, place)
        backup = _backed_up(real, seen) if seen.stat else ""
        if not _replaced(real, after, seen, mode):
            if backup:
                os.unlink(backup)
            return None
    except OSError as error:
        raise StoreError(f"cannot write {place.file}: {error.strerror or error}", hint="check its permissions") from None
    return made._replace(written=True, backup=backup, notes=notes)


def _snippet(client: Client, started: Started) -> str:
    if started.token:
        started = started._replace(token=PLACEHOLDER)
    return merging.snippet(client.form, (*client.section, clients.NAME), clients.entry_of(client, started))


def _merged(client: Client, path: str, data: bytes, started: Started) -> bytes:
    entry = clients.entry_of(client, started)
    try:
        text = data.decode()
        after = merging.merged(client.form, text, (*client.section, clients.NAME), lambda old: clients.updated(client, old, entry))
        return after.encode()
    except UnicodeError:
        why = "it is not UTF-8"
    except ValueError as error:
        why = str(error)
    raise ConfigError(f"{path} is left as it is: {why}", code="client-file",
                      hint=f"put it in by hand; this prints what: metier mcp config --for {client.id}")  # fmt: skip


# --- the disk


def _real(place: Place) -> str:
    """Follow links, but not out of the folder that the file belongs to: a project could name any file of yours."""
    real, within = os.path.realpath(place.file), os.path.realpath(place.within)
    if not real.startswith(within.rstrip(os.sep) + os.sep):
        raise RefusedError(f"{place.file} is a link that leads out of {place.within}", code="unsafe-link",
                           hint="look where it leads; metier does not follow it")  # fmt: skip
    return real


def _read(path: str) -> _Seen:
    try:
        file = keeping.opened(path, os.O_RDONLY)
    except FileNotFoundError:
        return _Seen(b"", None)
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror or error}", hint="it has to be a plain file of yours") from None
    try:
        found = os.fstat(file)
        most = max(merging.MOST_BYTES.values())
        if found.st_size > most:
            raise ConfigError(f"{path} is left as it is: it has more than {most:,} bytes", code="client-file", hint="look at it")
        data = b""
        while block := os.read(file, 1 << 20):
            data += block
        return _Seen(data, found)
    finally:
        os.close(file)


def _mode(place: Place, seen: _Seen, started: Started) -> tuple[int, tuple[str, ...]]:
    """Keep a file's rights; but a token is for nobody else than its owner."""
    if seen.stat is None:
        return (0o666 & ~_umask() if place.project else 0o600), ()
    mode = stat.S_IMODE(seen.stat.st_mode) & 0o777
    if started.token and mode & 0o077:
        return mode & 0o700, (f"{place.file} has the token now, so only you can read it any more",)
    return mode, ()


def _umask() -> int:
    found = os.umask(0o077)
    os.umask(found)
    return found


def _folder(path: str, place: Place) -> None:
    if place.project:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    else:
        keeping.make(os.path.dirname(path), place.within)


def _backed_up(path: str, seen: _Seen) -> str:
    """Keep what was there under a name that was free: an older backup is never written over."""
    mode = stat.S_IMODE(seen.stat.st_mode) & 0o777 if seen.stat else 0o600
    for number in range(1, MOST_BACKUPS):
        name = f"{path}{BACKUP}{'' if number == 1 else f'.{number}'}"
        try:
            _write(name, seen.data, mode)
        except FileExistsError:
            continue
        return name
    raise StoreError(f"there are {MOST_BACKUPS:,} backups beside {path}", hint=f"take away old ones: {path}{BACKUP}*")


def _write(path: str, data: bytes, mode: int) -> None:
    file = keeping.opened(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(file, view) :]
        if sys.platform != "win32":
            os.fchmod(file, mode)
        os.fsync(file)
    except BaseException:
        os.unlink(path)
        raise
    finally:
        os.close(file)


def _replaced(path: str, data: bytes, seen: _Seen, mode: int) -> bool:
    """Put the new text in the file's place, unless that is no longer what was read."""
    temporary = f"{path}.{os.getpid()}.{time.monotonic_ns()}.tmp"
    _write(temporary, data, mode)
    try:
        if _stamp(_stat(path)) != _stamp(seen.stat):
            return False
        if seen.stat is not None and sys.platform != "win32":
            with suppress(OSError):  # whoever gives this command as another user
                os.chown(temporary, seen.stat.st_uid, seen.stat.st_gid)
        os.replace(temporary, path)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
    return True


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except FileNotFoundError:
        return None


def _stamp(found: os.stat_result | None) -> tuple[Any, ...]:
    return (found.st_ino, found.st_size, found.st_mtime_ns) if found else ()
