"""The user's own files about triggers: which phrases they hold, and whether they can be used at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from metier.discover import disk
from metier.standard.code import MAX_BYTES, custom_triggers

if TYPE_CHECKING:
    from metier.app import Library

CODEC = ".codec/custom_triggers.json"
OWN = "triggers.json"


class Contents(NamedTuple):
    """What a file of the user's own holds; nothing of one that is not there."""

    data: bytes = b""
    there: bool = False
    fault: str = ""
    """Why a file that is there cannot be used."""


def custom_phrases(library: Library) -> dict[str, tuple[str, ...]]:
    """Give the phrases that the user has put in the place of declared ones, by name of skill (CO-8).

    `triggers.json` below METIER_HOME goes before CODEC's file. A file that cannot be read has none, and is worth a warning.
    """
    found: dict[str, tuple[str, ...]] = {}
    for folder, name in ((library.home, CODEC), (library.data, OWN)):
        if folder:
            found.update(_phrases(library, f"{folder}/{name}"))
    return found


def _phrases(library: Library, path: str) -> dict[str, tuple[str, ...]]:
    kept = contents(path)
    found = custom_triggers(kept.data) if kept.data else {}
    fault = "" if found else table_of(kept)[1]
    if fault:
        warn(library, f"{path} holds no trigger that can be read: {fault}")
    return found


def contents(path: str) -> Contents:
    """Read a file of the user's own, through links too, unless it is beyond all reason."""
    folder = path.rpartition("/")[0]
    if not disk.is_there(path) and (disk.kind_of(folder) != disk.FOLDER or disk.readable(folder)):
        return Contents()
    head = disk.read_head(disk.real(path), MAX_BYTES + 1)
    if head.fault:
        return Contents(there=True, fault=head.message)
    return Contents(head.data, there=True) if len(head.data) <= MAX_BYTES else Contents(there=True, fault="it is larger than 1 MiB")


def table_of(kept: Contents) -> tuple[dict[str, Any], str]:
    """Give the JSON object that a file holds, or why it holds none; a file that is not there is an empty one."""
    import json

    if kept.fault or not kept.there:
        return {}, kept.fault
    try:
        value = json.loads(kept.data.decode("utf-8-sig"))
    except (ValueError, RecursionError, MemoryError):
        return {}, "it is not JSON"
    return (value, "") if isinstance(value, dict) else ({}, "it is not a JSON object")


def warn(library: Library, warning: str) -> None:
    """Add a warning, once."""
    if warning not in library.warnings:
        library.warnings.append(warning)
