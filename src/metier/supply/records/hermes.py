"""The record of Hermes: `.hermes/skills/.hub/lock.json`, version 1. Pure.

Its hash (HE-43) runs over path, NUL and bytes without lengths, and keeps 64 bits. On disk Hermes
sorts by the parts of a path, in a download by the whole of it: where the two differ, it sees an
update for ever, and metier says so.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from metier.supply.records.foreign import (
    GITHUB_URL,
    ForeignSkill,
    RecordHash,
    github_of,
    json_bytes,
    read_rows,
    text,
    texts,
)
from metier.supply.safe_names import path_fault

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.supply.model import JsonObject, Lock, Pin
    from metier.supply.records.foreign import Hashes, RecordedFile

WHAT = "the record of Hermes"
FOLDER = ".hermes/skills"
USER = f"{FOLDER}/.hub/lock.json"
LOSES = ("Hermes's record has no commit, and its hash has 64 bits and can be made to collide",)
TRUSTED = frozenset({"openai/skills", "anthropics/skills"})
"""Whose skills Hermes calls trusted (HE-36)."""


def read(data: bytes) -> tuple[ForeignSkill, ...]:
    """Read the record."""
    _found, rows = read_rows(data, "installed", (1,), WHAT)
    return tuple(_foreign(name, entry) for name, entry in sorted(rows.items()))


def carries(pin: Pin) -> str:
    """Say why a skill cannot be in such a record; nothing when it can."""
    if not _place(pin):
        return f"it does not lie in {FOLDER}: add it with --to hermes"
    return "" if _identifier(pin)[0] else f"Hermes knows no source of the kind {pin.kind}"


def write(lock: Lock, previous: bytes | None, now: str, marks: Hashes | None = None) -> bytes:
    """Write the record; what is in `previous` and not in the lock stays."""
    found, rows = read_rows(previous, "installed", (1,), WHAT)
    for pin in lock.pins:
        if carries(pin):
            continue
        before = rows.get(pin.name, {})
        mark_of = (marks or {}).get(pin.name, RecordHash())
        source, identifier = _identifier(pin)
        level = "trusted" if github_of(pin.source) in TRUSTED else "community"
        new = {
            "source": source,
            "identifier": identifier,
            "trust_level": level,
            "scan_verdict": pin.verdict.level,
            "content_hash": mark_of.whole or text(before, "content_hash"),
            "install_path": _place(pin),
            "files": sorted(file.path for file in pin.files),
        }
        same = all(before.get(key) == value for key, value in new.items())
        new |= {
            "metadata": before.get("metadata", {}),
            "installed_at": text(before, "installed_at") or now,
            "updated_at": text(before, "updated_at") if same else now,
        }
        rows[pin.name] = {**before, **new}
    return json_bytes({**found, "version": 1, "installed": rows})


def mark(files: Sequence[RecordedFile]) -> RecordHash:
    """Give Hermes's own hash of what is on disk, and say so where a download would hash
    otherwise.
    """
    disk = _hash(sorted(files, key=lambda file: file.path.split("/")))
    return RecordHash(
        disk,
        note=""
        if disk == _hash(sorted(files, key=lambda file: file.path))
        else "Hermes hashes in another order when it looks for updates, and will always see one",
    )


def _hash(files: Sequence[RecordedFile]) -> str:
    whole = hashlib.sha256()
    for file in files:
        whole.update(file.path.encode("utf-8", "surrogateescape") + b"\0" + file.data)
    return f"sha256:{whole.hexdigest()[:16]}"


def _foreign(name: str, entry: JsonObject) -> ForeignSkill:
    source = text(entry, "source")
    identifier = text(entry, "identifier")
    place = text(entry, "install_path")
    about = ForeignSkill(
        name,
        digest_hint=text(entry, "content_hash"),
        folder=f"{FOLDER}/{place}" if place and not path_fault(place) else "",
        extra=texts(entry, "source", "identifier", "trust_level", "scan_verdict"),
    )
    owner, _, rest = identifier.partition("/")
    repository, _, path = rest.partition("/")
    if source == "github" and owner and repository:
        return about._replace(source=f"{GITHUB_URL}{owner}/{repository}", kind="git", path=path)
    if source == "clawhub" and identifier:
        return about._replace(
            source=f"clawhub:{identifier.removeprefix('clawhub/')}", kind="clawhub"
        )
    return about


def _place(pin: Pin) -> str:
    """Give where below its own folder Hermes has a skill."""
    found = (target.path for target in pin.targets if target.path.startswith(f"{FOLDER}/"))
    return next(found, "").removeprefix(f"{FOLDER}/")


def _identifier(pin: Pin) -> tuple[str, str]:
    if pin.kind in {"git", "marketplace"} and github_of(pin.source):
        return "github", f"{github_of(pin.source)}/{pin.path}".rstrip("/")
    if pin.kind == "clawhub":
        return "clawhub", pin.source.removeprefix("clawhub:")
    return "", ""
