"""Where environments lie: each whole or not there at all, and never built twice at once.

`KEY/env` is the environment, `KEY/ready.json` beside it says that it is finished. That file is written last, where nothing that was
installed could have written it, and its time is when the environment was last used.
"""

from __future__ import annotations

import glob
import json
import os
import shutil
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import StoreError
from metier.keeping import disk as keeping

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

READY = "ready.json"
_NEW, _LOCK = ".new-", ".lock-"
WAIT_SECONDS = 1500.0
"""How long to wait while another process builds the same: both of its steps may take their time."""
DAY = 24 * 60 * 60


class Kept(NamedTuple):
    """An environment that is there, or what is left of one that was never finished."""

    key: str
    size: int
    """Bytes of its files."""
    days: float
    """How long ago it was used."""


def place(root: str, key: str) -> str:
    """Give the path of an environment, in a sandbox and outside."""
    return f"{root}/{key}/env"


def is_ready(root: str, key: str) -> bool:
    """Tell whether an environment is there and finished."""
    return os.path.isfile(f"{root}/{key}/{READY}") and not os.path.islink(f"{root}/{key}") and os.path.isdir(place(root, key))


def use(root: str, key: str) -> None:
    """Note that an environment is used now."""
    try:
        os.utime(f"{root}/{key}/{READY}", follow_symlinks=False)
    except OSError:
        pass  # it is only for tidying up


class Building:
    """A folder in which an environment is built."""

    def __init__(self, root: str, key: str) -> None:
        """Name the places; nothing is made yet."""
        self.root, self.key = root, key
        self.staging = f"{root}/{_NEW}{key}"
        self.env = f"{self.staging}/env"

    def strangers(self) -> list[str]:
        """List the packages that came by an address of their own: the installer leaves a note beside each."""
        notes = glob.glob(f"{glob.escape(self.env)}/lib*/*/site-packages/*.dist-info/direct_url.json", include_hidden=True)
        return sorted({os.path.basename(os.path.dirname(note)).removesuffix(".dist-info") for note in notes})

    def finish(self, facts: Mapping[str, object]) -> None:
        """Put what was built where it belongs, in one step; it is on the disk then."""
        with _writing(self.root):
            os.sync()  # thousands of files: one by one it would take longer than to build them
            keeping.replace(f"{self.staging}/{READY}", json.dumps(facts, sort_keys=True).encode())
            _clear(f"{self.root}/{self.key}")
            os.rename(self.staging, f"{self.root}/{self.key}")


@contextmanager
def building(root: str, home: str | None, key: str) -> Iterator[Building | None]:
    """Have the environment to oneself while it is built; nothing where another process has built it meanwhile.

    What a process that died here has left is cleared first, and what is not finished at the end is cleared as well.
    """
    with _writing(root):
        keeping.make(root, home)
    with _held(root, key):
        if is_ready(root, key):
            yield None
            return
        desk = Building(root, key)
        with _writing(root):
            _clear(desk.staging)
            os.mkdir(desk.staging, 0o700)
            os.mkdir(desk.env, 0o700)
        try:
            yield desk
        finally:
            _clear(desk.staging)


def kept(root: str) -> list[Kept]:
    """List what is there, the longest unused first."""
    try:
        names = sorted(os.listdir(root))
    except OSError:
        return []
    found = [_kept(root, name) for name in names if not name.startswith(_LOCK)]
    return sorted(found, key=lambda one: -one.days)


def drop(root: str, key: str) -> bool:
    """Remove an environment, or what is left of one; not while it is being built."""
    try:
        with keeping.alone(f"{root}/{_LOCK}{key.removeprefix(_NEW)}", 0.0):
            try:
                os.unlink(f"{root}/{key}/{READY}")  # so that half of it never counts
            except FileNotFoundError:
                pass
            _clear(f"{root}/{key}")
    except OSError:
        return False
    return True


def _kept(root: str, name: str) -> Kept:
    folder = f"{root}/{name}"
    size = 0
    for path, _folders, files in os.walk(folder):
        for file in files:
            try:
                size += os.lstat(f"{path}/{file}").st_size
            except OSError:
                continue
    try:
        used = os.lstat(f"{folder}/{READY}").st_mtime
    except OSError:
        used = 0.0 if name.startswith(_NEW) else _made(folder)
    return Kept(name, size, max(0.0, time.time() - used) / DAY)


def _made(folder: str) -> float:
    try:
        return os.lstat(folder).st_mtime
    except OSError:
        return 0.0


def _clear(path: str) -> None:
    if os.path.islink(path) or os.path.isfile(path):
        os.unlink(path)
    elif os.path.lexists(path):
        shutil.rmtree(path)


@contextmanager
def _held(root: str, key: str) -> Iterator[None]:
    lock = keeping.alone(f"{root}/{_LOCK}{key}", WAIT_SECONDS)
    try:
        lock.__enter__()
    except TimeoutError as error:
        raise StoreError("another process has been installing the same packages for too long", hint="see what it does") from error
    except OSError as error:
        raise _unusable(root, error) from error
    try:
        yield
    finally:
        lock.__exit__(None, None, None)


@contextmanager
def _writing(root: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _unusable(root, error) from error


def _unusable(root: str, error: OSError) -> StoreError:
    return StoreError(f"cannot write to {root}: {error.strerror or error}", hint="METIER_HOME says where metier keeps its files")
