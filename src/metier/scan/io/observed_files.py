"""What observations found, one file for each digest below METIER_HOME.

A verdict on the text and a verdict on what was done belong to the same bytes: whoever applies the
first adds the second (`waive.ScanTerms`).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from metier.errors import StoreError
from metier.model import Finding
from metier.scan.cache import HARMS
from metier.store.io import safe_files

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = "observed"
FORMAT = 1
MAX_BYTES = 4 * 1024 * 1024
_LONG = ("events", "not_tried", "tried")
"""What can be left out of a record, in this order, before any finding is."""
_UNREAD = Finding(
    rule="OB170",
    severity="medium",
    category="evasion",
    path="",
    line=0,
    column=0,
    evidence="the record of an observation is damaged",
    why="It did more than could be recorded. What an observation found cannot be read any more",
    hint="observe it again: metier observe PATH",
    fingerprint="observation-unread",
)
"""What stands for a record that cannot be read: damage never makes a skill look safer."""


def keep_observation(data: str, home: str | None, digest: str, document: Mapping[str, Any]) -> None:
    """Write an observation down, in the place of an earlier one of the same bytes."""
    folder = f"{data}/{FOLDER}"
    text = _encode(document)
    try:
        safe_files.make_folder(folder, home)
        safe_files.replace_file(_path(folder, digest), text)
    except OSError as error:
        raise StoreError(
            f"cannot keep the observation: {error.strerror}",
            hint="see to it that METIER_HOME can be written, and that there is room",
        ) from error


def read_observation(data: str, digest: str) -> dict[str, Any] | None:
    """Give what is kept of some bytes; nothing where they were not observed. A damaged record is
    one with a finding that says so.
    """
    try:
        with open(_path(f"{data}/{FOLDER}", digest), "rb") as file:
            text = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError:
        return {"level": "caution", "findings": [_UNREAD]}
    return _decode(text) or {"level": "caution", "findings": [_UNREAD]}


def has_any(data: str) -> bool:
    """Tell whether anything was ever observed here: most people have no such folder."""
    return os.path.isdir(f"{data}/{FOLDER}")


def _encode(document: Mapping[str, Any]) -> bytes:
    """Write it as it can be read again: where it is too long, events are left out, and then findings
    from the end. The gravest come first, and a skill that floods its record must not lose them.
    """
    import json  # few machines have anything observed

    kept = dict(document)
    while True:
        text = json.dumps({"format": FORMAT, **kept}, separators=(",", ":")).encode()
        if len(text) <= MAX_BYTES:
            return text
        name = next((one for one in _LONG if kept.get(one)), "findings")
        kept[name] = kept[name][: len(kept[name]) // 2]


def _decode(text: bytes) -> dict[str, Any] | None:
    import json

    try:
        found = json.loads(text) if len(text) <= MAX_BYTES else {}
        findings = [Finding(**one) for one in found["findings"]]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    if any(one.severity not in HARMS for one in findings):
        return None
    return {**found, "findings": findings} if found.get("format") == FORMAT else None


def _path(folder: str, digest: str) -> str:
    return f"{folder}/{digest.rpartition(':')[2]}.json"
