"""The lists of approved code: which content is trusted under which name. Bytes in, values out."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, Literal, NamedTuple

SCHEMA = 1
MOST_BYTES = 4 * 1024 * 1024
"""A longer list is refused."""

Objection = Literal["file_unreadable", "not_in_allowlist", "hash_mismatch"]

_HEX = re.compile(r"[0-9a-fA-F]{64}")


class Manifest(NamedTuple):
    """Which content is trusted under which name. One with a problem trusts nothing."""

    skills: dict[str, str]
    """File name -> SHA-256 of its raw bytes, in lower-case hex."""
    problem: str = ""


class Approval(NamedTuple):
    """Who approved a file's content, and when."""

    sha256: str
    approved_at: str
    approved_by: str


class Allowlist(NamedTuple):
    """Which files were approved, by name and content. One with a problem approves nothing."""

    files: dict[str, Approval]
    problem: str = ""


def sha256_of(data: bytes) -> str:
    """Give the digest by which both lists know a content."""
    return hashlib.sha256(data).hexdigest()


# --- the trusted manifest (CO-7, with the name bound to the hash)


def parse_manifest(data: bytes | None) -> Manifest:
    """Read a manifest. None means that there is no file: nothing is trusted, and nothing is wrong."""
    if data is None:
        return Manifest({})
    try:
        skills = _object(_json(data).get("skills"), "`skills` is not an object")
        return Manifest({_name(name): _hash(value) for name, value in skills.items()})
    except _BAD as error:
        return Manifest({}, f"The manifest of trusted skills cannot be used: {_said(error)}")


def manifest_bytes(manifest: Manifest) -> bytes:
    """Write a manifest, the same bytes for the same content."""
    return _written({"schema": SCHEMA, "skills": manifest.skills})


# --- the allowlist (CO-27)


def parse_allowlist(data: bytes | None) -> Allowlist:
    """Read an allowlist. None means that there is no file: nothing is approved, and nothing is wrong."""
    if data is None:
        return Allowlist({})
    try:
        return Allowlist({_name(name): _approval(entry) for name, entry in _json(data).items()})
    except _BAD as error:
        return Allowlist({}, f"The list of approved files cannot be used: {_said(error)}")


def allowlist_bytes(allowlist: Allowlist) -> bytes:
    """Write an allowlist, the same bytes for the same content."""
    return _written({name: approval._asdict() for name, approval in allowlist.files.items()})


def approve(allowlist: Allowlist, name: str, data: bytes, *, at: str, by: str) -> Allowlist:
    """Approve one file's present content, in place of what was approved before."""
    return Allowlist({**allowlist.files, name: Approval(sha256_of(data), at, by)}, allowlist.problem)


def objection(allowlist: Allowlist, name: str, data: bytes | None) -> Objection | None:
    """Tell why a file may not be used, or None. Data is None when the file could not be read."""
    if data is None:
        return "file_unreadable"
    approval = allowlist.files.get(name)
    if approval is None:
        return "not_in_allowlist"
    return None if approval.sha256 == sha256_of(data) else "hash_mismatch"


# --- JSON that leaves no room for two readings


class _MalformedError(ValueError):
    """The list's content is not of the shape it must have."""


_BAD = (ValueError, RecursionError)


def _json(data: bytes) -> dict[str, Any]:
    if len(data) > MOST_BYTES:
        raise _MalformedError(f"it is longer than {MOST_BYTES} bytes")
    return _object(json.loads(data.decode("utf-8"), object_pairs_hook=_unique), "it is not an object")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a key that is written twice: two readers might take different ones."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _MalformedError("a key is written twice")
    return found


def _object(value: Any, otherwise: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _MalformedError(otherwise)
    return value


def _name(name: str) -> str:
    if not name or "/" in name or "\\" in name or "\0" in name:
        raise _MalformedError(f"{name[:80]!r} is not a file's name")
    return name


def _hash(value: Any) -> str:
    if not isinstance(value, str) or not _HEX.fullmatch(value):
        raise _MalformedError("a hash is not 64 hexadecimal digits")
    return value.lower()


def _approval(entry: Any) -> Approval:
    fields = _object(entry, "an approval is not an object")
    at, by = fields.get("approved_at", ""), fields.get("approved_by", "")
    if not isinstance(at, str) or not isinstance(by, str):
        raise _MalformedError("`approved_at` or `approved_by` is not a text")
    return Approval(_hash(fields.get("sha256")), at, by)


def _said(error: BaseException) -> str:
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)


def _written(value: dict[str, Any]) -> bytes:
    return (json.dumps(value, indent=2, sort_keys=True, ensure_ascii=True) + "\n").encode("ascii")
