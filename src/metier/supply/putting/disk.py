"""Putting a file in its place whole: folders on the way are made, links on the way are refused, a reader sees old or new."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from metier.errors import RefusedError, StoreError

if TYPE_CHECKING:
    from metier.ports import Hands

PASSING = ".metier-new"
"""What the name of a file ends with while it is being written."""


def put(hands: Hands, top: str, path: str, data: bytes) -> str:
    """Write bytes to `path` below the folder `top`, in place of a file there; give the whole path."""
    folder, _, name = path.rpartition("/")
    try:
        place = _made(hands, top, folder)
        target, passing = f"{place}/{name}", f"{place}/.{name[-200:]}{PASSING}"
        if os.path.isdir(target) and not os.path.islink(target):
            raise RefusedError(f"{target} is a folder", hint="move it away, or choose another place", code="collision")
        if os.path.lexists(passing):
            hands.remove(passing)  # of somebody who was stopped
        _switch(hands, passing, target, data)
    except OSError as error:
        raise StoreError(f"cannot write {top}/{path}: {error.strerror or error}", hint="check the folder's permissions") from error
    return target


def _switch(hands: Hands, passing: str, target: str, data: bytes) -> None:
    try:
        hands.write(passing, [data], 0o644)
        hands.sync(passing)
        hands.move(passing, target)
    except OSError:
        if os.path.lexists(passing):
            hands.remove(passing)
        raise


def _made(hands: Hands, top: str, folder: str) -> str:
    for path in _above(top):
        hands.make(path, 0o755)
    for step in folder.split("/") if folder else ():
        top = f"{top}/{step}"
        if os.path.islink(top):
            raise RefusedError(f"{top} is a link, and what is written there would lie elsewhere", code="unsafe-link",
                               hint="replace it by a folder, or name the other place yourself")  # fmt: skip
        if not os.path.isdir(top):
            hands.make(top, 0o755)
    return top


def _above(folder: str) -> list[str]:
    missing = []
    while folder and not os.path.lexists(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    return missing[::-1]
