"""What the readers of archives share: an entry, and the ways an archive is refused. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from metier.errors import RefusedError, SourceError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    from metier.supplies import ItemMode

SLACK = 1 << 20
"""Bytes that anything may unfold to: a ratio says nothing about what is small."""
WINDOW = 1 << 16
"""How many bytes are held at a time."""

RUNS = 0o100
"""The bit that lets an owner run a file."""
_KINDS: Mapping[int, ItemMode | Literal["folder"]] = {0: "file", 0o100000: "file", 0o040000: "folder", 0o120000: "link"}


class Bytes(Protocol):
    """A file that can be read at any place."""

    @property
    def size(self) -> int:
        """How many bytes it has."""

    def at(self, offset: int, count: int) -> bytes:
        """Give so many bytes from a place, or fewer where the file ends."""


class Entry(NamedTuple):
    """One entry of an archive. A folder's path ends with `/`."""

    path: str
    size: int
    mode: ItemMode


def mode_of(bits: int) -> ItemMode | Literal["folder"]:
    """Read what Unix calls a mode; one that says nothing of the kind is a file's."""
    kind = _KINDS.get(bits & 0o170000, "other")
    return "exec" if kind == "file" and bits & RUNS else kind


def malformed(what: str) -> SourceError:
    """Say that an archive cannot be read as what it claims to be."""
    return SourceError(f"the archive is malformed: {what}", hint="download it again, or ask who made it", code="malformed")


def bomb(ratio: int) -> RefusedError:
    """Say that an archive unfolds to far more than it is."""
    hint = f"supply.ratio allows {ratio} times its packed size"
    return RefusedError("the archive unfolds to far more than its size", hint=hint, code="bomb")


def too_large(allowed: int) -> RefusedError:
    """Say that an archive unfolds to more than is allowed."""
    return RefusedError("the archive unfolds to too many bytes", hint=f"supply.unpacked_bytes allows {allowed:,}", code="too-large")


def too_many(allowed: int) -> RefusedError:
    """Say that an archive has too many entries."""
    return RefusedError("the archive has too many entries", hint=f"supply.files allows {allowed:,}", code="too-many")
