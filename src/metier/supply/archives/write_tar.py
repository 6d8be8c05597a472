"""A skill as a `.tar.gz`, the same bytes every time and everywhere: what `metier pack` and `metier
publish` write. Pure.

Entries are sorted, without times, owners or folders. The bytes are stored, not squeezed: two
versions of zlib squeeze alike or do not, and a digest that depends on that is worth little.
"""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

BLOCK = 512
_STORED = 0xFFFF
"""The most bytes of one stored block of deflate."""
_NAME = 100
_PREFIX = 155
_GZIP = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
"""Deflate, no name, no time, no particular system."""


class PackFile(NamedTuple):
    """One file of a skill, whole."""

    path: str
    data: bytes
    executable: bool = False


def pack_tar_gz(files: Iterable[PackFile]) -> bytes:
    """Give the archive; the order in which the files come does not matter."""
    return _zipped(b"".join(_tar(files)))


def _tar(files: Iterable[PackFile]) -> Iterator[bytes]:
    for path, file in sorted(
        (file.path.encode("utf-8", "surrogateescape"), file) for file in files
    ):
        prefix, name = _split(path)
        if name is None:
            record = _record(b"path", path)
            yield from _entry(b"", b"pax/" + path[-64:].rpartition(b"/")[2], record, 0o644, b"x")
            prefix = b""
            name = path[:_NAME]
        yield from _entry(prefix, name, file.data, 0o755 if file.executable else 0o644, b"0")
    yield bytes(2 * BLOCK)


def _split(path: bytes) -> tuple[bytes, bytes | None]:
    """Give the two halves of a path that the plain header holds; no name where it holds neither
    that length nor those letters.
    """
    if len(path) <= _NAME and path.isascii():
        return b"", path
    at = path.find(b"/", max(len(path) - _NAME - 1, 0))
    if not path.isascii() or not 0 < at <= _PREFIX:
        return b"", None
    return path[:at], path[at + 1 :]


def _record(key: bytes, value: bytes) -> bytes:
    """Give a line of an extended header, which begins with its own length."""
    rest = b" %b=%b\n" % (key, value)
    size = len(rest)
    while size != len(rest) + len(str(size)):
        size = len(rest) + len(str(size))
    return b"%d%b" % (size, rest)


def _entry(prefix: bytes, name: bytes, data: bytes, mode: int, kind: bytes) -> Iterator[bytes]:
    none = b"%07o" % 0  # owner, group and device numbers
    head = struct.pack(
        "100s8s8s8s12s12s8sc100s6s2s32s32s8s8s155s12x",
        name,
        b"%07o" % mode,
        none,
        none,
        b"%011o" % len(data),
        b"%011o" % 0,
        b" " * 8,
        kind,
        b"",
        b"ustar\0",
        b"00",
        b"",
        b"",
        none,
        none,
        prefix,
    )
    yield head[:148] + b"%06o\0 " % sum(head) + head[156:]
    yield data
    yield bytes(-len(data) % BLOCK)


def _zipped(data: bytes) -> bytes:
    parts = [_GZIP]
    for at in range(0, len(data), _STORED):
        piece = data[at : at + _STORED]
        parts += [
            struct.pack("<BHH", at + _STORED >= len(data), len(piece), len(piece) ^ 0xFFFF),
            piece,
        ]
    return b"".join(parts) + struct.pack("<LL", zlib.crc32(data), len(data) & 0xFFFFFFFF)
