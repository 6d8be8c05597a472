"""A client's own file changed so that it knows this server: what was there is kept beside it, and
replaced in one step.

The file is the user's. One that cannot be read as what it should be is left alone, and so is one
that a link leads to outside the home folder, or outside the project.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.errors import ConfigError, RefusedError, StoreError, UsageError
from metier.mcp import clients, config_text
from metier.store.io import safe_files

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metier.mcp.clients import McpClient, ServerEndpoint
    from metier.model import Texts

BACKUP_SUFFIX = ".metier-backup"
MAX_BACKUPS = 1_000
WRITE_ATTEMPTS = 3
"""How often it is tried again when the client writes its file meanwhile."""
TOKEN_PLACEHOLDER = "TOKEN"  # noqa: S105 - a word for people to replace
"""What stands for the token wherever something is printed."""


class ClientFile(NamedTuple):
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
    notes: Texts = ()
    agent: str = ""
    """The agent that the server stands beside; nothing where metier does not know the client's."""
    has: Texts = ()
    """Those of your skills that this agent reads by itself, in the folder where that was asked."""
    serves: Texts = ()
    """Those that the server adds."""


class _ClientFileRead(NamedTuple):
    """A file as it was read."""

    data: bytes
    stat: os.stat_result | None


def command_here() -> Texts:
    """Give how this very metier is started from anywhere."""
    script = sys.argv[0] if sys.argv else ""
    if os.path.basename(script).removesuffix(".exe") == "metier" and os.path.isfile(script):
        return (os.path.abspath(script),)
    return (sys.executable or "python3", "-m", "metier")


def client_file(
    client: McpClient,
    *,
    env: Mapping[str, str],
    home: str | None,
    project: str = "",
    platform: str = sys.platform,
) -> ClientFile:
    """Give the file to write: the user's, or with a project that project's."""
    if project:
        if not client.project:
            raise UsageError(f"{client.title} has no file in a project", hint="leave --project out")
        return ClientFile(f"{project}/{client.project}", project, project=True)
    file = clients.user_file(client, platform, env, home)
    if not file or not os.path.isabs(file):
        raise UsageError(f"there is no place for {client.title}'s file", hint="set HOME")
    return ClientFile(
        file, home if home and file.startswith(f"{home.rstrip('/')}/") else os.path.dirname(file)
    )


def preview(client: McpClient, place: ClientFile, started: ServerEndpoint) -> Configured:
    """Give what to paste into a client's file, with no token in it."""
    return Configured(client.id, place.file, _snippet(client, started))


def configure(
    client: McpClient, place: ClientFile, started: ServerEndpoint, *, dry_run: bool = False
) -> Configured:
    """Put this server into a client's file. What it has already stays, and the same again changes
    nothing.
    """
    if started.token and place.project:
        raise RefusedError(
            "a token does not belong in a project's file, which others get too",
            code="shared-file",
            hint="leave --project out, or --http",
        )
    for _try in range(WRITE_ATTEMPTS):
        found = _configure_once(client, place, started, dry_run=dry_run)
        if found is not None:
            return found
    raise StoreError(
        f"{place.file} changes all the time", hint=f"close {client.title}, and say it again"
    )


def _configure_once(
    client: McpClient, place: ClientFile, started: ServerEndpoint, *, dry_run: bool
) -> Configured | None:
    """Read, change and write once; give nothing when the file changed meanwhile."""
    real = _real_path(place)
    seen = _read(real)
    after = _merge_entry(client, real, seen.data, started)
    made = Configured(client.id, place.file, _snippet(client, started), changed=after != seen.data)
    if dry_run or not made.changed:
        return made
    mode, notes = _mode(place, seen, started)
    try:
        _folder(real, place)
        backup = _back_up(real, seen) if seen.stat else ""
        if not _replace(real, after, seen, mode):
            if backup:
                os.unlink(backup)
            return None
    except OSError as error:
        raise StoreError(
            f"cannot write {place.file}: {error.strerror or error}", hint="check its permissions"
        ) from None
    return made._replace(written=True, backup=backup, notes=notes)


def _snippet(client: McpClient, started: ServerEndpoint) -> str:
    if started.token:
        started = started._replace(token=TOKEN_PLACEHOLDER)
    return config_text.render_snippet(
        client.form, (*client.section, clients.SERVER_NAME), clients.entry_of(client, started)
    )


def _merge_entry(client: McpClient, path: str, data: bytes, started: ServerEndpoint) -> bytes:
    entry = clients.entry_of(client, started)
    try:
        text = data.decode()
        after = config_text.merge_entry(
            client.form,
            text,
            (*client.section, clients.SERVER_NAME),
            lambda old: clients.update_entry(client, old, entry),
        )
        return after.encode()
    except UnicodeError:
        why = "it is not UTF-8"
    except ValueError as error:
        why = str(error)
    raise ConfigError(
        f"{path} is left as it is: {why}",
        code="client-file",
        hint=f"add it by hand. To print the entry: metier mcp config --for {client.id}",
    )


# --- the disk


def _real_path(place: ClientFile) -> str:
    """Follow links, but not out of the folder that the file belongs to: a project could name any
    file of yours.
    """
    real = os.path.realpath(place.file)
    within = os.path.realpath(place.within)
    if not real.startswith(within.rstrip(os.sep) + os.sep):
        raise RefusedError(
            f"{place.file} is a link that leads out of {place.within}",
            code="unsafe-link",
            hint="check where it leads. metier doesn't follow it",
        )
    return real


def _read(path: str) -> _ClientFileRead:
    try:
        file = safe_files.open_file(path, os.O_RDONLY)
    except FileNotFoundError:
        return _ClientFileRead(b"", None)
    except OSError as error:
        raise StoreError(
            f"cannot read {path}: {error.strerror or error}",
            hint="it must be a plain file that you own",
        ) from None
    with os.fdopen(file, "rb") as opened:
        found = os.fstat(file)
        most = max(config_text.MAX_CONFIG_BYTES.values())
        if found.st_size > most:
            raise ConfigError(
                f"{path} is left as it is: it has more than {most:,} bytes",
                code="client-file",
                hint="look at it",
            )
        return _ClientFileRead(opened.read(), found)


def _mode(place: ClientFile, seen: _ClientFileRead, started: ServerEndpoint) -> tuple[int, Texts]:
    """Keep a file's rights; but a token is for nobody else than its owner."""
    if seen.stat is None:
        return (0o666 & ~_umask() if place.project else 0o600), ()
    mode = stat.S_IMODE(seen.stat.st_mode) & 0o777
    if started.token and mode & 0o077:
        return mode & 0o700, (f"{place.file} now contains the token, so only you can read it",)
    return mode, ()


def _umask() -> int:
    found = os.umask(0o077)
    os.umask(found)
    return found


def _folder(path: str, place: ClientFile) -> None:
    if place.project:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    else:
        safe_files.make_folder(os.path.dirname(path), place.within)


def _back_up(path: str, seen: _ClientFileRead) -> str:
    """Keep what was there under a name that was free: an older backup is never written over."""
    mode = stat.S_IMODE(seen.stat.st_mode) & 0o777 if seen.stat else 0o600
    for number in range(1, MAX_BACKUPS):
        name = f"{path}{BACKUP_SUFFIX}{'' if number == 1 else f'.{number}'}"
        try:
            _write(name, seen.data, mode)
        except FileExistsError:
            continue
        return name
    raise StoreError(
        f"there are {MAX_BACKUPS:,} backups beside {path}",
        hint=f"delete old ones: {path}{BACKUP_SUFFIX}*",
    )


def _write(path: str, data: bytes, mode: int) -> None:
    file = safe_files.open_file(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        with os.fdopen(file, "wb") as opened:
            opened.write(data)
            opened.flush()
            if sys.platform != "win32":
                os.fchmod(file, mode)
            os.fsync(file)
    except BaseException:
        os.unlink(path)
        raise


def _replace(path: str, data: bytes, seen: _ClientFileRead, mode: int) -> bool:
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
