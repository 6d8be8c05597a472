"""What all records have in common: what one says about a skill, and how a stranger's JSON is read
and written. Pure.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.errors import ConfigError
from metier.supply.safe_names import text_fault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metier.supply.model import JsonObject, Pin, SourceKind

    Hashes = Mapping[str, "RecordHash"]


MAX_RECORD_BYTES = 16 * 1024 * 1024
MAX_NUMBER_DIGITS = 19
GITHUB_URL = "https://github.com/"
WORKING_FOLDER = ".agents/skills"


class ForeignSkill(NamedTuple):
    """What another tool's record says about one skill. Nobody has judged any of it."""

    name: str
    source: str = ""
    """An address as that tool wrote it, made whole, or for the kind `folder` a path on this machine;
    nothing where it names none that metier can fetch from."""
    kind: SourceKind = "folder"
    ref: str = ""
    commit: str = ""
    path: str = ""
    """Where in the source."""
    digest_hint: str = ""
    """That tool's own hash of the skill."""
    folder: str = ""
    """Where it lies, below the project or the home folder."""
    version: str = ""
    extra: tuple[tuple[str, str], ...] = ()
    """What else it says, for people."""


class RecordedFile(NamedTuple):
    """One file of a skill, whole."""

    path: str
    data: bytes
    executable: bool = False


class RecordHash(NamedTuple):
    """How a tool would mark a skill's bytes."""

    whole: str = ""
    """Its hash of the skill; nothing where it cannot be told."""
    files: tuple[tuple[str, str], ...] = ()
    """Its hash of each file, where it keeps those."""
    note: str = ""


def document(data: bytes, what: str) -> JsonObject:
    """Read a record that is JSON; whatever is wrong with it is a fault of that file."""
    if len(data) > MAX_RECORD_BYTES:
        raise broken(what, f"it is longer than {MAX_RECORD_BYTES:,} bytes")
    try:
        found = json.loads(data.decode("utf-8-sig"), parse_int=_number)
    except UnicodeDecodeError:
        raise broken(what, "it is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise broken(what, f"line {error.lineno}: {error.msg}") from None
    except RecursionError:
        raise broken(what, "it is nested too deeply") from None
    if not isinstance(found, dict):
        raise broken(what, "it is not an object")
    return found


def versioned(found: JsonObject, key: str, known: tuple[Any, ...], what: str) -> None:
    """See to it that a record is of a version that is understood."""
    version = found.get(key)
    if isinstance(version, bool) or version not in known:
        raise ConfigError(
            f"{what} is of a version that metier does not know: {json.dumps(version)[:40]}",
            code="record-version",
            hint=f"it knows {', '.join(map(str, known))}; upgrade metier, or that tool",
        )


def read_rows(
    data: bytes | None, key: str, known: tuple[Any, ...], what: str
) -> tuple[JsonObject, dict[str, JsonObject]]:
    """Give a record of a version that is understood, and what it says about each skill, by name;
    what is no object says nothing, and neither does a record that is not there.
    """
    if data is None:
        return {}, {}
    found = document(data, what)
    versioned(found, "version", known, what)
    rows = found.get(key)
    if not isinstance(rows, dict):
        raise broken(what, f"'{key}' is not an object")
    return found, {name: entry if isinstance(entry, dict) else {} for name, entry in rows.items()}


def text(entry: JsonObject, key: str) -> str:
    """Give a text of one line; nothing where there is none."""
    value = entry.get(key)
    return value if isinstance(value, str) and not text_fault(value) else ""


def texts(entry: JsonObject, *keys: str) -> tuple[tuple[str, str], ...]:
    """Give those of some texts that there are."""
    return tuple((key, value) for key in keys if (value := text(entry, key)))


def json_bytes(value: Any, *, end: str = "\n") -> bytes:
    """Write JSON as JavaScript's own printer lays it out, ASCII alone."""
    return (json.dumps(value, indent=2) + end).encode("ascii")


def broken(what: str, why: str) -> ConfigError:
    """Say that a record cannot be read."""
    return ConfigError(
        f"{what} cannot be read: {why}",
        hint="put that file right with the tool that wrote it",
        code="record",
    )


def github_of(source: str) -> str:
    """Give `owner/name` of a repository on GitHub; nothing for any other source."""
    rest = source.removeprefix(GITHUB_URL)
    return rest if rest != source and rest.count("/") == 1 else ""


def deployed(pin: Pin, folder: str) -> bool:
    """Tell whether a skill was put into a folder, under its own name."""
    return any(target.path == f"{folder}/{pin.name}" for target in pin.targets)


def _number(digits: str) -> int:
    return int(digits) if len(digits) <= MAX_NUMBER_DIGITS else 0
