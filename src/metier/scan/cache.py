"""Verdicts as bytes, and back: one by one for the book of verdicts, and a whole folder's at once.
Pure.

With a folder's go the stats that tell whether any of them is out of date. Most sentences of a
finding belong to its rule, so the same few are met again and again: each is kept once.
"""

from __future__ import annotations

from zlib import compress, decompress, error

from metier.catalogue import snapshot
from metier.fast import TYPE_CHECKING, NamedTuple
from metier.model import Digest, Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from metier.model import Level

FOLDER_MARK = b".J"
VERDICT_MARK = b".D"
FORMAT = 2
"""Raised when what is written down here changes its shape or its meaning."""
LEVELS = ("safe", "caution", "dangerous")
HARMS = ("critical", "high", "medium", "low", "info")
MAX_SCORE = 100
_NO_TOKEN = bytes(16)
_MIN_COMPRESSED_BYTES = 200
"""Fewer bytes than this are not worth compressing."""


class ScanTarget(NamedTuple):
    """One tree to judge: a folder, or one file in a folder."""

    path: str
    name: str
    folder: str
    only: str = ""


class PlainVerdict(NamedTuple):
    """One skill with what a plain scan says of it: no waiver, no baseline, no policy."""

    path: str
    name: str
    digest: Digest | None
    """None when a part could not be read: then nothing is remembered."""
    level: Level
    score: int
    findings: tuple[Finding, ...]
    lost: bool = False
    """Whether it could not be looked at: then it has one finding, and no tree."""


class FolderVerdicts(NamedTuple):
    """Everything that was judged below a place, and the stats it depends on."""

    paths: list[bytes]
    """Below the place, which is itself `.`."""
    keys: bytes
    judged: list[PlainVerdict]


class SharedTexts(dict[str, str]):
    """Gives one object for equal texts: they are kept, and written down, once."""

    def __missing__(self, text: str) -> str:
        """Meet a text for the first time."""
        self[text] = text
        return text


def share_texts(findings: Iterable[Finding], texts: SharedTexts) -> tuple[Finding, ...]:
    """Give the same findings, with one object for each text that many of them hold."""
    return tuple(
        Finding(
            rule=texts[rule],
            severity=severity,
            category=texts[category],
            path=texts[path],
            line=line,
            column=column,
            evidence=evidence,
            why=texts[why],
            hint=texts[hint],
            fingerprint=mark,
        )
        for rule, severity, category, path, line, column, evidence, why, hint, mark in findings
    )


def encode_verdict(judged: PlainVerdict) -> bytes:
    """Write one verdict down."""
    found = share_texts(judged.findings, SharedTexts())
    data = snapshot.sealed(
        (judged.level, judged.score, [tuple(finding) for finding in found]), _NO_TOKEN, VERDICT_MARK
    )
    return data if len(data) < _MIN_COMPRESSED_BYTES else b"z" + compress(data, 6)


def decode_verdict(data: bytes | None, path: str, name: str, digest: Digest) -> PlainVerdict | None:
    """Read one verdict back; `None` when the bytes are not one."""
    if data is not None and data[:1] == b"z":
        try:
            data = decompress(data[1:])
        except error:
            return None
    found = snapshot.opened(data, VERDICT_MARK)
    if found is None:
        return None
    try:
        level, score, findings = found[1]
        read = PlainVerdict(path, name, digest, level, score, tuple(map(Finding._make, findings)))
    except (TypeError, ValueError):
        return None
    return read if _is_sound(read) else None


def cache_key(ruleset: str) -> str:
    """Name the rules and the format: what was written by another edition of either is not found."""
    return f"{ruleset}/{FORMAT}"


def _is_sound(judged: PlainVerdict) -> bool:
    """Tell whether what was read back has the shape of a verdict."""
    if (
        judged.level not in LEVELS
        or type(judged.score) is not int
        or not 0 <= judged.score <= MAX_SCORE
    ):
        return False
    return all(
        len(finding) == len(Finding._fields)
        and finding.severity in HARMS
        and type(finding.line) is int
        and type(finding.column) is int
        and all(isinstance(text, str) for text in (*finding[:4], *finding[6:]))
        for finding in judged.findings
    )


def encode_folder(paths: Iterable[bytes], keys: bytes, judged: Sequence[PlainVerdict]) -> bytes:
    """Write down all that was judged below a place, with the paths below it and their keys."""
    rows: list[tuple[Any, ...]] = [
        (*one[:5], [tuple(finding) for finding in one.findings], one.lost) for one in judged
    ]
    return snapshot.sealed((b"\0".join(paths), keys, rows), _NO_TOKEN, FOLDER_MARK)


def decode_folder(data: bytes | None) -> FolderVerdicts | None:
    """Read it back; `None` when the bytes are nothing of the kind."""
    found = snapshot.opened(data, FOLDER_MARK)
    if found is None:
        return None
    make = Finding._make
    try:
        paths, keys, rows = found[1]
        judged = [PlainVerdict._make((*row[:5], tuple(map(make, row[5])), row[6])) for row in rows]
        folder = FolderVerdicts(paths.split(b"\0"), keys, judged)
    except (TypeError, ValueError, AttributeError, IndexError):
        return None
    return (
        folder
        if all(len(finding) == len(Finding._fields) for one in judged for finding in one.findings)
        else None
    )
