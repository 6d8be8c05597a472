"""Decisions, keys and signatures on disk, below METIER_HOME: `trust.json`, `keys/`, `signatures/`. For their owner alone.

Every change reads, changes and writes under one lock and ends with a rename, so that many processes lose nothing of each
other's and a reader sees the old or the new. A file that cannot be read is never replaced: whoever wants to begin anew
has to move it away.
"""

from __future__ import annotations

import os
import stat
import time
from typing import TYPE_CHECKING

from metier.errors import NotFoundError, RefusedError, StoreError
from metier.keeping import disk as keeping
from metier.trust.state import MOST_BYTES, State, read_state, state_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

STATE, LOCK, KEYS, SIGNATURES = "trust.json", "trust.lock", "keys", "signatures"
WAIT_SECONDS = 30.0
SMALL_BYTES = 64 * 1024
"""The largest key or signature that is read."""
_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def now() -> str:
    """Give this moment, in ISO form, UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time()))  # by itself it asks a clock that lags


# --- decisions


def read(folder: str | None) -> State:
    """Give the decisions; none when there is no file, and a broken state when it cannot be used."""
    if folder is None:
        return State()
    try:
        data = _bytes(f"{folder}/{STATE}", MOST_BYTES)
    except OSError as error:
        return State(broken=f"the record of your decisions cannot be read ({error.strerror or error})")
    return State() if data is None else read_state(data)


def change(folder: str | None, home: str | None, edit: Callable[[State], State]) -> State:
    """Change the decisions, alone: what others have decided meanwhile is there when `edit` is called."""
    if folder is None:
        raise StoreError("there is no place to keep decisions", hint="set METIER_HOME or HOME")
    path = f"{folder}/{STATE}"
    try:
        keeping.make(folder, home)
        with keeping.alone(f"{folder}/{LOCK}", WAIT_SECONDS):
            state = read(folder)
            if state.broken:
                hint = f"mend it, or begin anew without any decision: mv {path} {path}.old"
                raise StoreError(f"{path}: {state.broken}; it is left as it is", hint=hint)
            state = edit(state)
            keeping.replace(path, state_bytes(state))
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}", hint="check METIER_HOME and its permissions") from error
    return state


# --- keys and signatures


def keys(folder: str | None) -> dict[str, bool]:
    """List the public keys that are trusted, each with whether its private half is here too."""
    names = _names(folder, KEYS)
    return {name[:-4].replace("-", ":", 1): f"{name[:-4]}.key" in names for name in sorted(names) if name.endswith(".pub")}


def key(folder: str | None, key_id: str, half: str) -> bytes | None:
    """Give one half of a key, `pub` or `key`; nothing when it is not here."""
    return _small(f"{folder}/{KEYS}/{_file(key_id)}.{half}") if folder else None


def write_key(folder: str | None, home: str | None, key_id: str, public: bytes, private: bytes | None) -> str:
    """Keep a key; give the path of its public half. The private half is never replaced."""
    base = _place(folder, home, KEYS)
    path = f"{base}/{_file(key_id)}"
    if private is not None:
        _guarded(path, lambda: keeping.replace(f"{path}.key", private))
    _guarded(path, lambda: keeping.replace(f"{path}.pub", public))
    return f"{path}.pub"


def remove_key(folder: str | None, key_id: str) -> None:
    """Trust a key no longer; its private half goes as well."""
    path = f"{folder}/{KEYS}/{_file(key_id)}"
    if folder is None or not os.path.lexists(f"{path}.pub"):
        raise NotFoundError(f"there is no key '{key_id}'", hint="'metier trust keys list' shows those there are")
    for half in (".pub", ".key"):
        if os.path.lexists(path + half):
            _guarded(path, lambda half=half: os.unlink(path + half))  # type: ignore[misc]


def signature(folder: str | None, digest: str) -> bytes | None:
    """Give the envelope that is kept for a digest, if there is one."""
    return _small(f"{folder}/{SIGNATURES}/{_file(digest)}.json") if folder else None


def write_signature(folder: str | None, home: str | None, digest: str, envelope: bytes) -> str:
    """Keep an envelope; give its path. It never goes into the skill: that would change what was signed."""
    path = f"{_place(folder, home, SIGNATURES)}/{_file(digest)}.json"
    _guarded(path, lambda: keeping.replace(path, envelope))
    return path


def read_file(path: str) -> bytes:
    """Read a small file that a person named."""
    try:
        data = _small(path, follow=True)
    except OSError as error:
        raise NotFoundError(f"{path} cannot be read: {error.strerror or error}", hint="check the path") from error
    if data is None:
        raise NotFoundError(f"there is nothing at {path}", hint="check the path")
    return data


def _file(name: str) -> str:
    """Give the file name of a key or a digest, both of which are `kind:hex`."""
    kind, _, rest = name.partition(":")
    if not (kind.isalnum() and rest.isalnum() and name.isascii() and len(name) < 200):
        raise RefusedError(f"'{name}' is neither a key nor a digest", hint="'metier trust keys list' shows the keys")
    return f"{kind}-{rest}"


def _place(folder: str | None, home: str | None, name: str) -> str:
    if folder is None:
        raise StoreError("there is no place to keep keys", hint="set METIER_HOME or HOME")
    path = f"{folder}/{name}"
    _guarded(path, lambda: keeping.make(folder, home))
    _guarded(path, lambda: keeping.make(path, home))
    return path


def _names(folder: str | None, name: str) -> list[str]:
    try:
        return os.listdir(f"{folder}/{name}") if folder else []
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreError(f"cannot read {folder}/{name}: {error.strerror}", hint="check its permissions") from error


def _guarded(path: str, work: Callable[[], object]) -> None:
    try:
        work()
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}", hint="check METIER_HOME and its permissions") from error


# --- files


def _small(path: str, *, follow: bool = False) -> bytes | None:
    return _bytes(os.path.realpath(path) if follow else path, SMALL_BYTES)


def _bytes(path: str, most: int) -> bytes | None:
    """Read a plain file whole, never through a link; nothing where there is none."""
    try:
        file = os.open(path, os.O_RDONLY | _FLAGS)
    except FileNotFoundError:
        return None
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or found.st_size > most:
            raise OSError(22, "it is not a plain file" if found.st_size <= most else f"it has more than {most:,} bytes")
        data = b""
        while block := os.read(file, 1 << 20):
            data += block
    finally:
        os.close(file)
    return data
