"""What a pin may say: every field of one held against its rule, whoever wrote it. Pure.

A lock lies in a project, so a stranger may have written it. Whatever it names is one segment or a relative path that
cannot climb; a place that a skill was put in ends with that skill's name and is never the top itself (HE-42).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metier.supplies import Pin, Pinned, Target

KINDS = ("folder", "archive", "git", "file", "well-known", "marketplace", "clawhub", "bundled")
METHODS = ("folder", "link", "copy")
LEVELS = ("safe", "caution", "dangerous")
MOST_NAME = 255
MOST_PATH = 4096
MOST_TEXT = 8192
MOST_SCORE = 1_000_000_000
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_HASH = re.compile(r"[0-9a-f]{64}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_LONE = re.compile(r"[\ud800-\udfff]")
_UNENCODABLE = re.compile(r"[\ud800-\udc7f\udd00-\udfff]")
"""What is not even a byte of a name that is no UTF-8, which the system hands over as U+DC80 to U+DCFF."""
_RESERVED = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\xb9\xb2\xb3])(?:\.[^/]*)?", re.IGNORECASE)


def is_digest(text: str) -> bool:
    """Tell whether a text is the digest of a tree."""
    return _DIGEST.fullmatch(text) is not None


def name_fault(name: str) -> str:
    """Say why a name is not one safe segment of a path; nothing when it is."""
    if not name or len(name) > MOST_NAME:
        return "it is empty" if not name else f"it is longer than {MOST_NAME} characters"
    if _CONTROL.search(name) or _LONE.search(name):
        return "it has characters that no name has"
    if name.startswith((".", "~", "-")) or name.endswith((".", " ")) or name.strip() != name:
        return "it begins or ends with what no folder of a skill does"
    if re.search(r'[/\\:*?"<>|]', name):
        return "it is more than one part of a path"
    return "it is reserved on Windows" if _RESERVED.fullmatch(name) else ""


def path_fault(path: str, *, bytes_too: bool = False) -> str:
    """Say why a path is not safe below a folder; nothing when it is. `bytes_too` lets through names that are no UTF-8."""
    if not path or len(path) > MOST_PATH:
        return "it is empty" if not path else f"it is longer than {MOST_PATH} characters"
    if _CONTROL.search(path) or (_UNENCODABLE if bytes_too else _LONE).search(path):
        return "it has characters that no path has"
    if "\\" in path or path[1:2] == ":":
        return "it has a backslash or a drive letter"
    if any(part in {"", ".", ".."} for part in path.split("/")):
        return "it is not relative, or it climbs"
    return ""


def text_fault(text: str) -> str:
    """Say why a text does not fit on one line; nothing when it does."""
    if len(text) > MOST_TEXT:
        return f"it is longer than {MOST_TEXT} characters"
    return "it has characters that no text of a lock has" if _CONTROL.search(text) or _LONE.search(text) else ""


def pin_fault(pin: Pin) -> tuple[tuple[str, ...], str]:
    """Say what is wrong with a pin: the field, as the path to it, and why; an empty why when nothing is."""
    for field, why in _faults(pin):
        if why:
            return field, why
    return (), ""


def _faults(pin: Pin) -> Iterable[tuple[tuple[str, ...], str]]:
    yield ("name",), name_fault(pin.name)
    yield ("kind",), "" if pin.kind in KINDS else f"it is none of {', '.join(KINDS)}"
    yield ("source",), text_fault(pin.source) if pin.source else "it is empty"
    yield ("path",), path_fault(pin.path) if pin.path else ""
    for field in ("ref", "commit", "signature"):
        yield (field,), text_fault(getattr(pin, field))
    for field in ("digest", "base", "approval"):
        value = getattr(pin, field)
        empty = field == "approval" and not value
        yield (field,), "" if empty or is_digest(value) else "it is not 'sha256:' and 64 digits of hexadecimal"
    yield ("verdict", "level"), "" if pin.verdict.level in LEVELS else f"it is none of {', '.join(LEVELS)}"
    yield ("verdict", "score"), "" if 0 <= pin.verdict.score <= MOST_SCORE else "it is no score"
    yield ("verdict", "ruleset"), text_fault(pin.verdict.ruleset)
    yield from _target_faults(pin.name, pin.targets)
    yield from _file_faults(pin.files)


def _target_faults(name: str, targets: tuple[Target, ...]) -> Iterable[tuple[tuple[str, ...], str]]:
    seen: set[tuple[str, str]] = set()
    for target in targets:
        why = path_fault(target.path)
        if not why and target.path.rpartition("/")[2] != name:
            why = "a skill is only ever put in a folder of its own name"  # HE-42
        yield ("targets", target.path), why or ("it is there twice" if target[:2] in seen else "")
        yield ("targets", target.path), text_fault(target.agent)
        yield ("targets", target.path), "" if target.method in METHODS else f"its method is none of {', '.join(METHODS)}"
        seen.add((target.agent, target.path))


def _file_faults(files: tuple[Pinned, ...]) -> Iterable[tuple[tuple[str, ...], str]]:
    folders, seen = set(), set()
    for file in files:
        why = path_fault(file.path, bytes_too=True)
        if not why and (not _HASH.fullmatch(file.sha256) or file.mode not in {"", "x", "l"}):
            why = "it is not 64 digits of hexadecimal, with 'x' or 'l' after them where that is so"
        yield ("files", file.path), why or ("it is there twice" if file.path in seen else "")
        seen.add(file.path)
        folder = file.path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    both = min(folders & seen, default="")
    yield ("files", both), "it is both a file and a folder" if both else ""
