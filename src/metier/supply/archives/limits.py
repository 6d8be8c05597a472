"""Every fixed limit of an archive, what its readers share, and the ways one is refused. Pure.

The limits that people set are in `SupplySettings` (`settings/model.py`): `download_bytes`, `unpacked_bytes`, `file_bytes`,
`files` and `ratio`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from metier.errors import RefusedError, SourceError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    from metier.supply.model import ItemMode

RATIO_SLACK_BYTES = 1 << 20
"""Bytes that anything may unfold to: a ratio says nothing about what is small."""
WINDOW_BYTES = 1 << 16
"""How many bytes are held at a time."""
MAX_XZ_MEMORY_BYTES = 80 << 20
"""Enough for what `xz -9` makes, whose dictionary has 64 MiB."""
MAX_ZSTD_WINDOW_BYTES = 1 << 27
ZSTD_INPUT_BYTES = 256
"""What is unfolded at once: each four bytes of it may stand for 128 KiB, and there is no other way
to be given less."""
MAX_STREAM_MEMBERS = 100_000
"""How many members, streams or frames one compressed stream may be made of."""
TAR_BYTES_PER_ENTRY = 4096
"""What a tar may add to each entry: headers, names and padding."""
MAX_PAX_BYTES = 1 << 20
"""Bytes of one extended header or long name."""
MAX_PAX_HEADERS = 16
"""Extended headers before one entry."""

EXECUTABLE_BIT = 0o100
"""The bit that lets an owner run a file."""
_KINDS: Mapping[int, ItemMode | Literal["folder"]] = {
    0: "file",
    0o100000: "file",
    0o040000: "folder",
    0o120000: "link",
}


class RandomAccessBytes(Protocol):
    """A file that can be read at any place."""

    @property
    def size(self) -> int:
        """How many bytes it has."""

    def at(self, offset: int, count: int) -> bytes:
        """Give so many bytes from a place, or fewer where the file ends."""


class ArchiveEntry(NamedTuple):
    """One entry of an archive. A folder's path ends with `/`."""

    path: str
    size: int
    mode: ItemMode


def mode_of(bits: int) -> ItemMode | Literal["folder"]:
    """Read what Unix calls a mode; one that says nothing of the kind is a file's."""
    kind = _KINDS.get(bits & 0o170000, "other")
    return "exec" if kind == "file" and bits & EXECUTABLE_BIT else kind


def malformed_error(what: str) -> SourceError:
    """Say that an archive cannot be read as what it claims to be."""
    return SourceError(
        f"the archive is malformed: {what}",
        hint="download it again, or ask who made it",
        code="malformed",
    )


def bomb_error(ratio: int) -> RefusedError:
    """Say that an archive expands to far more than its size."""
    hint = f"supply.ratio allows {ratio} times its packed size"
    return RefusedError("the archive expands to far more than its size", hint=hint, code="bomb")


def too_large_error(allowed: int) -> RefusedError:
    """Say that an archive unfolds to more than is allowed."""
    return RefusedError(
        "the archive expands to too many bytes",
        hint=f"supply.unpacked_bytes allows {allowed:,}",
        code="too-large",
    )


def too_many_error(allowed: int) -> RefusedError:
    """Say that an archive has too many entries."""
    return RefusedError(
        "the archive has too many entries", hint=f"supply.files allows {allowed:,}", code="too-many"
    )
