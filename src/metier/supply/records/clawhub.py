"""The record of ClawHub: `.clawhub/lock.json`, version 1. Pure.

That tool writes a second file into each skill. It is part of the skill's bytes: metier looks at it
to compare, never believes it over the record, and never writes it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from metier.errors import ConfigError
from metier.supply.records.foreign import (
    ForeignSkill,
    deployed,
    document,
    json_bytes,
    read_rows,
    text,
    texts,
)

if TYPE_CHECKING:
    from metier.supply.model import JsonObject, Lock, Pin
    from metier.supply.records.foreign import Hashes

WHAT = "the record of ClawHub"
PROJECT = USER = ".clawhub/lock.json"
FOLDER = "skills"
INSIDE = ".clawhub/origin.json"
"""The file in a skill."""
LOSES = ("ClawHub's record has a version and nothing else that tells bytes apart",)


def read(data: bytes) -> tuple[ForeignSkill, ...]:
    """Read the record."""
    _found, rows = read_rows(data, "skills", (1,), WHAT)
    return tuple(_foreign(slug, entry) for slug, entry in sorted(rows.items()))


def carries(pin: Pin) -> str:
    """Say why a skill cannot be in such a record; nothing when it can."""
    if pin.kind != "clawhub":
        return "it is not from ClawHub"
    return "" if deployed(pin, FOLDER) else f"it does not lie in {FOLDER}"


def write(
    lock: Lock,
    previous: bytes | None,
    now: str,
    marks: Hashes | None = None,  # noqa: ARG001 - all formats alike
) -> bytes:
    """Write the record; what is in `previous` and not in the lock stays."""
    found, rows = read_rows(previous, "skills", (1,), WHAT)
    for pin in lock.pins:
        if carries(pin):
            continue
        before = rows.get(pin.name, {})
        version = pin.commit or pin.ref or None
        when = before.get("installedAt") if before.get("version") == version else None
        rows[pin.name] = {
            **before,
            "version": version,
            "installedAt": when if isinstance(when, int | float) else _milliseconds(now),
        }
        owner, slash, _slug = pin.source.removeprefix("clawhub:").rpartition("/")
        if slash and "/" not in owner:
            rows[pin.name]["ownerHandle"] = owner
    return json_bytes({**found, "version": 1, "skills": rows})


def origin_version(data: bytes) -> str:
    """Give the version that the file in a skill tells of; nothing where it tells none."""
    try:
        return text(document(data, "the note of ClawHub in a skill"), "installedVersion")
    except ConfigError:
        return ""


def _foreign(slug: str, entry: JsonObject) -> ForeignSkill:
    owner = text(entry, "ownerHandle").removeprefix("@")
    version = text(entry, "version")
    return ForeignSkill(
        name=slug,
        source=f"clawhub:{owner}/{slug}" if owner else f"clawhub:{slug}",
        kind="clawhub",
        commit=version,
        folder=f"{FOLDER}/{slug}",
        version=version,
        extra=texts(entry, "sourceRef", "pinReason"),
    )


def _milliseconds(now: str) -> int:
    """Give a time as JavaScript counts it; the beginning of all counting where there is none."""
    try:
        when = datetime.fromisoformat(now)
    except ValueError:
        return 0
    return int((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() * 1000)
