"""Values in a file that only its owner can read, and the names of those that lie elsewhere, below
METIER_HOME/secrets.

A file that others can read, that belongs to somebody else or that is a link is refused, never
mended: whoever made it so may have read it already. Every change reads, changes and writes under
one lock and ends with a rename.
"""

from __future__ import annotations

import os
import stat
import sys

from metier.errors import MetierError, RefusedError, StoreError
from metier.fast import TYPE_CHECKING
from metier.secrets import names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

FOLDER, VALUES, NAMES, LOCK = "secrets", "values.env", "names.json", "lock"
MAX_FILE_BYTES = 4 << 20
_FLAGS = (
    getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
)
_POSIX = sys.platform != "win32"
OTHERS_MODE_BITS = 0o077
"""The rights that nobody but the owner may have."""


class FileStore:
    """Keeps values in `METIER_HOME/secrets/values.env`, readable by its owner alone."""

    kind = "file"

    def __init__(self, data: str | None, home: str | None) -> None:
        """Keep them below metier's folder; without one, nothing can be kept."""
        self.data = data
        self.home = home

    def get(self, name: str) -> str | None:
        """Give a value, or nothing."""
        return names.values_in(self._text()).get(name)

    def put(self, name: str, value: str) -> None:
        """Keep a value under a name."""
        change(self.data, self.home, VALUES, lambda text: names.with_value(text, name, value))

    def drop(self, name: str) -> bool:
        """Forget a value; tell whether there was one."""
        if name not in self.names():
            return False
        change(self.data, self.home, VALUES, lambda text: names.without(text, name))
        return True

    def ready(self) -> None:
        """Refuse, before anybody is asked for a value, when it could not be kept."""
        change(self.data, self.home, VALUES, lambda text: text)

    def names(self) -> list[str]:
        """List the names that have a line here, an empty one too."""
        return list(names.names_in(self._text()))

    def faults(self) -> list[str]:
        """Say which lines of the file set no secret, though they are there for something."""
        path = f"{self.data}/{FOLDER}/{VALUES}"
        return [f"{path}: {fault}" for fault in names.faults_in(self._text())]

    def _text(self) -> str:
        return read(self.data, VALUES)

    def __repr__(self) -> str:
        """Name the place; a value must not get into a traceback."""
        return f"FileStore({self.data!r})"


def read(data: str | None, file: str) -> str:
    """Give the text of a file of ours; nothing when there is none."""
    if data is None:
        return ""
    path = f"{data}/{FOLDER}/{file}"
    try:
        _check_folder(f"{data}/{FOLDER}")
        return _read(path)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise StoreError(
            f"cannot read {path}: {error.strerror or error}",
            hint="check METIER_HOME and its permissions",
        ) from None


def kept_names(data: str) -> Mapping[str, bool]:
    """Name what the file and the keyring keep, each with whether it has a value, for a listing that
    wants to know what is missing. No value leaves here; a store that is refused keeps nothing.
    """
    found: dict[str, bool] = {}
    try:
        if text := read(data, NAMES):
            from metier.secrets.io.system_keyring import read_names  # few have a keyring

            found = dict.fromkeys(read_names(text), True)
    except MetierError:
        pass  # whoever uses the store is told
    try:
        found |= names.names_in(read(data, VALUES))
    except MetierError:
        pass
    return found


def change(data: str | None, home: str | None, file: str, edit: Callable[[str], str]) -> None:
    """Change a file of ours, alone: what others have written meanwhile is there when `edit` is
    called.
    """
    if data is None:
        raise StoreError(
            "there is no place to keep secrets", hint="set METIER_HOME or HOME, or use the session"
        )
    from metier.store.io import safe_files  # a listing only reads

    folder = f"{data}/{FOLDER}"
    try:
        safe_files.make_folder(folder, home)
        _check_folder(folder)
        with safe_files.hold_lock(f"{folder}/{LOCK}"):
            try:
                text = _read(f"{folder}/{file}")
            except FileNotFoundError:
                text = ""
            after = edit(text)
            if after != text:
                safe_files.replace_file(
                    f"{folder}/{file}", after.encode("utf-8", "surrogateescape")
                )
    except OSError as error:
        raise StoreError(
            f"cannot write {folder}/{file}: {error.strerror or error}",
            hint="check METIER_HOME and its permissions",
        ) from None


def _check_folder(folder: str) -> None:
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode):
        raise _refused(folder, "is not a folder of its own")
    _check_owner(folder, found)


def _check_owner(path: str, found: os.stat_result) -> None:
    if not _POSIX:
        return  # the rights of a user's own data folder come from the system there
    if found.st_uid != os.geteuid():
        raise _refused(path, "belongs to somebody else")
    if found.st_mode & OTHERS_MODE_BITS:
        right = "chmod 700" if stat.S_ISDIR(found.st_mode) else "chmod 600"
        raise _refused(path, "can be read by others", f"{right} {path}, and change what was in it")


def _refused(path: str, why: str, hint: str = "") -> RefusedError:
    hint = hint or "move it away, and set the secrets again"
    return RefusedError(f"{path} {why}; it is left alone", hint=hint, code="unsafe-store")


def _read(path: str) -> str:
    """Read a plain file of the owner's alone, never through a link."""
    try:
        file = os.open(path, os.O_RDONLY | _FLAGS)
    except FileNotFoundError:
        raise
    except OSError:
        if os.path.islink(path):
            raise _refused(path, "is a link") from None
        raise
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            raise _refused(path, "is not a plain file")
        if found.st_nlink > 1:
            raise _refused(path, "has another name elsewhere")
        _check_owner(path, found)
        if found.st_size > MAX_FILE_BYTES:
            raise _refused(path, f"has more than {MAX_FILE_BYTES:,} bytes")
        with os.fdopen(file, "rb", closefd=False) as opened:
            return opened.read().decode("utf-8", "surrogateescape")
    finally:
        os.close(file)
