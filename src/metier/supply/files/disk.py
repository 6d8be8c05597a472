"""Reading a small file that strangers may have put there: never through a link, never a pipe, never more than it may hold."""

from __future__ import annotations

import os

from metier.errors import StoreError
from metier.keeping.disk import opened


def small(path: str, most: int) -> bytes | None:
    """Give the bytes of a file; nothing when there is none."""
    try:
        file = opened(path, os.O_RDONLY)
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
    return StoreError(f"cannot read {path}: {why}", hint="a plain file is expected there; check it and its permissions")
