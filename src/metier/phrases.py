"""The user's own trigger phrases: which files hold them, and what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.discover import disk
from metier.standard.code import MAX_BYTES, custom_triggers

if TYPE_CHECKING:
    from metier.app import Library

CODEC = ".codec/custom_triggers.json"
OWN = "triggers.json"


def custom_phrases(library: Library) -> dict[str, tuple[str, ...]]:
    """Give the phrases that the user has put in the place of declared ones, by name of skill (CO-8).

    `triggers.json` below METIER_HOME goes before CODEC's file. A file that cannot be read has none.
    """
    found = custom_triggers(contents(f"{library.home}/{CODEC}")) if library.home else {}
    if library.data:
        path = f"{library.data}/{OWN}"
        data = contents(path)
        own = custom_triggers(data)
        warning = f"{path} holds no trigger that can be read"
        if data.strip() not in {b"", b"{}"} and not own and warning not in library.warnings:
            library.warnings.append(warning)
        found.update(own)
    return found


def contents(path: str) -> bytes:
    """Give a file of the user's own, through links too; nothing when there is none or it is beyond all reason."""
    head = disk.read_head(disk.real(path), MAX_BYTES + 1)
    return head.data if not head.fault and head.size <= MAX_BYTES else b""
