"""The copies of other MCP servers' skills below METIER_HOME, and the record of what each was first.

Each server has a folder of its own, made like a plugin's, so that its skills' names begin with the
server's. A skill's folder is put in place whole. The record is written before it, so that no skill lies
there of which nobody knows what it was first.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from metier.discover.scopes import UPSTREAMS
from metier.errors import MetierError, StoreError
from metier.store.io import safe_files
from metier.store.io.folders import clear
from metier.supply.io.lock_file import read_small_file
from metier.supply.safe_names import is_digest, name_fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from metier.ports import DiskCalls

RECORD = "first-seen.json"
MAX_RECORD_BYTES = 16 * 1024 * 1024
_MANIFEST = ".claude-plugin/plugin.json"
_HELD_LOCK = ".lock"


class JoinedSkill(NamedTuple):
    """A skill of another server, as the record has it."""

    name: str
    first: str
    """The digest of what was first seen: other bytes are served only after a yes."""
    now: str
    """The digest of what the server gave last."""
    promised: str
    """What the server promised of it then; nothing where it promises nothing."""


class JoinedRecord(NamedTuple):
    """What is known of one server's skills, by their folders."""

    source: str = ""
    skills: Mapping[str, JoinedSkill] = {}


def mirror_of(data: str, name: str) -> str:
    """Give the folder of a server's copies."""
    return f"{data}/{UPSTREAMS}/{name}"


def skills_of(data: str, name: str) -> str:
    """Give the folder that a server's skills lie in."""
    return f"{mirror_of(data, name)}/skills"


@contextmanager
def hold_mirror(data: str, name: str, home: str | None) -> Iterator[bool]:
    """Keep a server's copies to oneself; false, and nothing held, where another process has them."""
    folder = mirror_of(data, name)
    try:
        safe_files.make_folder(folder, home)
        held = safe_files.hold_lock(f"{folder}/{_HELD_LOCK}", 0.0)
        held.__enter__()
    except TimeoutError:
        yield False
        return
    except OSError as error:
        raise _unusable(folder, error) from error
    try:
        yield True
    finally:
        held.__exit__(None, None, None)


def read_record(data: str, name: str) -> JoinedRecord:
    """Read what is known of a server's skills; no file means nothing."""
    path = f"{mirror_of(data, name)}/{RECORD}"
    raw = read_small_file(path, MAX_RECORD_BYTES)
    if raw is None:
        return JoinedRecord()
    try:
        found = json.loads(raw)
        skills = {
            folder: JoinedSkill(row["name"], row["first"], row["now"], row["promised"])
            for folder, row in found["skills"].items()
        }
        sound = isinstance(found["source"], str) and all(
            not name_fault(folder) and is_digest(one.first) and is_digest(one.now)
            for folder, one in skills.items()
        )
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        sound = False
    if not sound:
        raise StoreError(
            f"{path} can't be read",
            hint="remove the folder that it lies in: the skills are fetched again",
            code="state",
        )
    return JoinedRecord(found["source"], skills)


def first_digests(data: str, name: str) -> dict[str, str] | None:
    """Give the digest that each skill of a server had first, by its path; nothing where the record
    cannot be read.
    """
    try:
        record = read_record(data, name)
    except (MetierError, OSError):
        return None
    below = skills_of(data, name)
    return {f"{below}/{folder}": one.first for folder, one in record.skills.items()}


def write_record(data: str, name: str, record: JoinedRecord) -> None:
    """Put the record in place, and what makes the folder a plugin's."""
    folder = mirror_of(data, name)
    document = {
        "source": record.source,
        "skills": {key: one._asdict() for key, one in sorted(record.skills.items())},
    }
    try:
        safe_files.make_folder(f"{folder}/{_MANIFEST.partition('/')[0]}", None)
        if not os.path.lexists(f"{folder}/{_MANIFEST}"):
            safe_files.replace_file(f"{folder}/{_MANIFEST}", json.dumps({"name": name}).encode())
        safe_files.replace_file(f"{folder}/{RECORD}", json.dumps(document, indent=1).encode())
    except OSError as error:
        raise _unusable(folder, error) from error


def put_skill(hands: DiskCalls, made: str, data: str, name: str, folder: str) -> None:
    """Put a skill that lies in quarantine in the place of what a server gave before."""
    below = skills_of(data, name)
    target = f"{below}/{folder}"
    aside = f"{mirror_of(data, name)}/.old"
    try:
        if not os.path.lexists(below):
            hands.make(below, 0o700)
        clear(aside, hands)
        if os.path.lexists(target):
            hands.move(target, aside)
        hands.move(made, target)
        clear(aside, hands)
    except OSError as error:
        raise _unusable(target, error) from error


def drop_skill(hands: DiskCalls, data: str, name: str, folder: str) -> None:
    """Take a skill away that its server no longer has."""
    aside = f"{mirror_of(data, name)}/.old"
    target = f"{skills_of(data, name)}/{folder}"
    try:
        clear(aside, hands)
        if os.path.lexists(target):
            hands.move(target, aside)
            clear(aside, hands)
    except OSError as error:
        raise _unusable(target, error) from error


def clear_aside(hands: DiskCalls, data: str, name: str) -> None:
    """Remove what a look that broke off had put aside."""
    aside = f"{mirror_of(data, name)}/.old"
    try:
        clear(aside, hands)
    except OSError as error:
        raise _unusable(aside, error) from error


def is_there(data: str, name: str, folder: str) -> bool:
    """Tell whether a skill lies among a server's copies."""
    return os.path.isdir(f"{skills_of(data, name)}/{folder}")


def _unusable(place: str, error: OSError) -> StoreError:
    return StoreError(
        f"cannot write to {place}: {error.strerror or error}",
        hint="METIER_HOME says where metier keeps its files",
    )
