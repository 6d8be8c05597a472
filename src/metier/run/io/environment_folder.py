"""Where environments lie: each whole or not there at all, and never built twice at once.

`KEY/env` is the environment, `KEY/ready.json` beside it says that it is finished. That file is
written last, where nothing that was installed could have written it, and its time is when the
environment was last used.
"""

from __future__ import annotations

import glob
import json
import os
import shutil
import time
from contextlib import ExitStack, contextmanager, suppress
from os.path import basename, dirname, isdir, isfile, islink, lexists
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import StoreError
from metier.store.io import safe_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

READY = "ready.json"
_NEW = ".new-"
_LOCK = ".lock-"
WAIT_SECONDS = 1500.0
"""How long to wait while another process builds the same: both of its steps may take their time."""
DAY = 24 * 60 * 60


class KeptEnvironment(NamedTuple):
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
    return (
        isfile(f"{root}/{key}/{READY}") and not islink(f"{root}/{key}") and isdir(place(root, key))
    )


def note_use(root: str, key: str) -> None:
    """Note that an environment is used now."""
    with suppress(OSError):  # it is only for tidying up
        os.utime(f"{root}/{key}/{READY}", follow_symlinks=False)


class EnvironmentBuild:
    """A folder in which an environment is built."""

    def __init__(self, root: str, key: str) -> None:
        """Name the places; nothing is made yet."""
        self.root = root
        self.key = key
        self.staging = f"{root}/{_NEW}{key}"
        self.env = f"{self.staging}/env"

    def strangers(self) -> list[str]:
        """List the packages that came by an address of their own: the installer leaves a note
        beside each.
        """
        notes = glob.glob(
            f"{glob.escape(self.env)}/lib*/*/site-packages/*.dist-info/direct_url.json",
            include_hidden=True,
        )
        return sorted({basename(dirname(note)).removesuffix(".dist-info") for note in notes})

    def finish(self, facts: Mapping[str, object]) -> None:
        """Put what was built where it belongs, in one step; it is on the disk then."""
        with _writing(self.root):
            os.sync()  # thousands of files: one by one it would take longer than to build them
            safe_files.replace_file(
                f"{self.staging}/{READY}", json.dumps(facts, sort_keys=True).encode()
            )
            _clear(f"{self.root}/{self.key}")
            safe_files.tighten(self.staging)
            os.rename(self.staging, f"{self.root}/{self.key}")


@contextmanager
def build_alone(root: str, home: str | None, key: str) -> Iterator[EnvironmentBuild | None]:
    """Have the environment to oneself while it is built; nothing where another process has built it
    meanwhile.

    What a process that died here has left is cleared first, and what is not finished at the end is
    cleared as well.
    """
    with ExitStack() as held:
        with _writing(root):
            safe_files.make_folder(root, home)
            try:
                held.enter_context(safe_files.hold_lock(f"{root}/{_LOCK}{key}", WAIT_SECONDS))
            except TimeoutError as error:
                raise StoreError(
                    "another process has been installing the same packages for too long",
                    hint="see what it does",
                ) from error
        if is_ready(root, key):
            yield None
            return
        build = EnvironmentBuild(root, key)
        with _writing(root):
            _clear(build.staging)
            os.mkdir(build.staging, 0o700)
            os.mkdir(build.env, 0o700)
        try:
            yield build
        finally:
            _clear(build.staging)


def list_environments(root: str) -> list[KeptEnvironment]:
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
        with safe_files.hold_lock(f"{root}/{_LOCK}{key.removeprefix(_NEW)}", 0.0):
            with suppress(FileNotFoundError):
                os.unlink(f"{root}/{key}/{READY}")  # so that half of it never counts
            _clear(f"{root}/{key}")
    except OSError:
        return False
    return True


def _kept(root: str, name: str) -> KeptEnvironment:
    folder = f"{root}/{name}"
    size = 0
    for path, _folders, files in os.walk(folder):
        for file in files:
            with suppress(OSError):
                size += os.lstat(f"{path}/{file}").st_size
    used = 0.0
    with suppress(OSError):
        if not name.startswith(_NEW):
            used = os.lstat(folder).st_mtime
        used = os.lstat(f"{folder}/{READY}").st_mtime
    return KeptEnvironment(name, size, max(0.0, time.time() - used) / DAY)


def _clear(path: str) -> None:
    if islink(path) or isfile(path):
        os.unlink(path)
    elif lexists(path):
        shutil.rmtree(path)


@contextmanager
def _writing(root: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"cannot write to {root}: {error.strerror or error}",
            hint="METIER_HOME says where metier keeps its files",
        ) from error
