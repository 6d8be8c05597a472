"""The token of the HTTP server: made once, kept where only its owner can read it, never printed.

A file that others can read is refused, not mended: whoever made it so may have read it already.
"""

from __future__ import annotations

import os
import secrets
import stat
import sys

from metier.errors import RefusedError, StoreError
from metier.keeping import disk as keeping
from metier.mcp import gatekeeping

FOLDER, NAME = "mcp", "token"
_PRIVATE = 0o077
"""The rights that nobody but the owner may have."""


def file_of(data: str | None) -> str:
    """Give the place of the token that metier makes by itself."""
    if not data:
        raise StoreError("there is no place to keep a token", hint="set METIER_HOME or HOME, or give --token-file FILE")
    return f"{data}/{FOLDER}/{NAME}"


def own(data: str | None, home: str | None) -> str:
    """Give the token of this machine; it is made when it is first asked for."""
    path = file_of(data)
    folder = os.path.dirname(path)
    try:
        keeping.make(folder, home)
        with keeping.alone(f"{folder}/lock"):
            if not os.path.lexists(path):
                keeping.replace(path, f"{secrets.token_urlsafe(32)}\n".encode())
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}", hint="check METIER_HOME and its permissions") from None
    return given(path, follow=False)


def given(path: str, *, follow: bool = True) -> str:
    """Read a token from a file that belongs to this user alone."""
    try:
        text = _read(os.path.realpath(path) if follow else path)
    except OSError as error:
        raise StoreError(f"cannot read the token in {path}: {error.strerror or error}",
                         hint="name a file with one line, the token") from None  # fmt: skip
    token = text.strip()
    fault = gatekeeping.fault_of_token(token)
    if fault:
        raise RefusedError(f"{path} has no good token: {fault}", code="weak-token",
                           hint="for example: (umask 77; openssl rand -hex 32 > FILE)")  # fmt: skip
    return token


def _read(path: str) -> str:
    file = keeping.opened(path, os.O_RDONLY)
    try:
        found = os.fstat(file)
        if sys.platform != "win32" and (found.st_mode & _PRIVATE or found.st_uid not in {os.geteuid(), 0}):
            right = stat.filemode(found.st_mode)
            raise RefusedError(f"{path} can be read by others, or is somebody else's ({right}); it is left alone",
                               code="unsafe-store", hint=f"chmod 600 {path}, and put another token in it")  # fmt: skip
        return os.read(file, 2 * gatekeeping.MOST_TOKEN).decode("ascii", "replace")
    finally:
        os.close(file)
