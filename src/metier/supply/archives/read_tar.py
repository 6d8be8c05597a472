"""Tar: ustar, the long names of GNU and the extended headers of pax. One pass, no seeking, nothing
believed. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.supply.archives.limits import (
    EXECUTABLE_BIT,
    MAX_PAX_BYTES,
    MAX_PAX_HEADERS,
    WINDOW_BYTES,
    ArchiveEntry,
    malformed_error,
    too_many_error,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from metier.settings.model import SupplySettings
    from metier.supply.model import Chunks, ItemMode

BLOCK_BYTES = 512
_CHECKSUM = slice(148, 156)
_ZEROS = bytes(BLOCK_BYTES)
_HANDLED = ("path", "size", "linkpath")


class ByteFeed:
    """A stream that is taken in pieces of a known length."""

    def __init__(self, chunks: Chunks) -> None:
        """Hold what was read and not taken yet."""
        self.chunks = chunks
        self.held = b""
        self.at = 0

    def some(self, most: int) -> bytes:
        """Give at least one byte and at most so many; nothing at the end."""
        while self.at >= len(self.held):
            chunk = next(self.chunks, None)
            if chunk is None:
                return b""
            self.held = chunk
            self.at = 0
        piece = self.held[self.at : self.at + most]
        self.at += len(piece)
        return piece

    def take(self, count: int) -> bytes:
        """Give exactly so many bytes."""
        return b"".join(self.pieces(count))

    def pieces(self, count: int) -> Chunks:
        """Give exactly so many bytes, in pieces; a stream that ends before is malformed."""
        while count > 0:
            piece = self.some(min(count, WINDOW_BYTES))
            if not piece:
                raise malformed_error("it ends in the middle of an entry")
            count -= len(piece)
            yield piece

    def skip(self, count: int) -> None:
        """Pass over so many bytes."""
        for _piece in self.pieces(count):
            pass


class _Header(NamedTuple):
    kind: bytes
    name: bytes
    size: int
    mode: int


def tar_entries(chunks: Chunks, limits: SupplySettings) -> Iterator[tuple[ArchiveEntry, ByteFeed]]:
    """Give each entry with the feed that stands at its bytes; how many of them are left untaken
    does not matter.
    """
    feed = ByteFeed(chunks)
    count = 0
    while (found := _next(feed)) is not None:
        count += 1
        if count > limits.files:
            raise too_many_error(limits.files)
        before = _Measured(feed)
        yield found, before
        feed.skip(found.size - before.taken + -found.size % BLOCK_BYTES)
    # Another reader could take what follows the end for further entries.
    while piece := feed.some(WINDOW_BYTES):
        if piece.strip(b"\0"):
            raise malformed_error("there is data after its end")


class _Measured(ByteFeed):
    """A feed that knows how much of an entry was taken."""

    def __init__(self, feed: ByteFeed) -> None:
        """Begin at the entry's first byte."""
        self.feed = feed
        self.taken = 0

    def some(self, most: int) -> bytes:
        """Take from the stream itself."""
        piece = self.feed.some(most)
        self.taken += len(piece)
        return piece


def _next(feed: ByteFeed) -> ArchiveEntry | None:
    """Give the next entry with all that headers before it said of it; nothing at the end of the
    archive.
    """
    pax: dict[str, bytes] = {}
    for _turn in range(MAX_PAX_HEADERS):
        header = _header(feed.take(BLOCK_BYTES))
        if header is None:
            if pax:
                raise malformed_error("it ends after an extended header")
            return None
        if header.kind in b"xgLK":
            _extend(pax, header, feed)
        else:
            return _entry(header, pax)
    raise malformed_error("one entry has too many extended headers")


def _extend(pax: dict[str, bytes], header: _Header, feed: ByteFeed) -> None:
    if header.size > MAX_PAX_BYTES:
        raise malformed_error("an extended header is too long")
    data = feed.take(header.size)
    feed.skip(-header.size % BLOCK_BYTES)
    if header.kind == b"L":
        pax["path"] = data.split(b"\0", 1)[0]
    elif header.kind == b"K":
        pax["linkpath"] = data.split(b"\0", 1)[0]
    else:
        records = dict(_records(data))
        if any(key.startswith("GNU.sparse") for key in records):
            raise malformed_error("it has sparse files, which metier doesn't support")
        if header.kind == b"g" and not records.keys().isdisjoint(_HANDLED):
            raise malformed_error("a global header sets the path or size of every entry")
        pax.update((key, records[key]) for key in _HANDLED if key in records)


def _records(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Take the records of a pax header apart: `LENGTH KEY=VALUE` and a newline, where the length
    counts the whole.
    """
    at = 0
    while at < len(data):
        space = data.find(b" ", at, at + 12)
        digits = data[at:space] if space > at else b""
        length = int(digits) if digits.isdigit() else 0
        record = data[space + 1 : at + length]
        key, found, value = record.partition(b"=")
        if length <= 0 or at + length > len(data) or not record.endswith(b"\n") or not found:
            raise malformed_error("an extended header is corrupt")
        yield key.decode("utf-8", "replace"), value[:-1]
        at += length


def _entry(header: _Header, pax: dict[str, bytes]) -> ArchiveEntry:
    name = pax.get("path", header.name)
    size = header.size
    if "size" in pax:
        said = pax["size"]
        if not said.isdigit() or len(said) > 18 or int(said) != size:
            # Readers that believe the one and readers that believe the other would find different
            # entries.
            raise malformed_error("two headers give different sizes for one entry")
    path = name.decode("utf-8", "surrogateescape")
    mode = _mode(header)
    if mode == "folder" or (mode in {"file", "exec"} and path.endswith("/")):
        if size:
            raise malformed_error("a folder entry contains data")
        return ArchiveEntry(path.rstrip("/") + "/", 0, "file")
    if size and mode in {"link", "other"}:
        raise malformed_error("a link or device entry contains data")
    return ArchiveEntry(path, size, mode)


def _mode(header: _Header) -> ItemMode | Literal["folder"]:
    if header.kind in b"0\0" or header.kind == b"7":
        return "exec" if header.mode & EXECUTABLE_BIT else "file"
    if header.kind in b"12":
        return "link"
    if header.kind in b"346":
        return "other"
    if header.kind == b"5":
        return "folder"
    raise malformed_error(f"it has an entry of unknown type {header.kind!r}")


def _header(block: bytes) -> _Header | None:
    """Read one header; nothing for the block of zeros that ends an archive."""
    if block == _ZEROS:
        return None
    blank = bytearray(block)
    blank[_CHECKSUM] = b" " * 8
    signed = (
        sum(byte - 256 if byte > 127 else byte for byte in blank) if not block.isascii() else -1
    )
    if _number(block[_CHECKSUM]) not in {sum(blank), signed}:
        raise malformed_error("the checksum of a header is wrong")
    name = block[:100].split(b"\0", 1)[0]
    if block[257:263] == b"ustar\0":
        prefix = block[345:500].split(b"\0", 1)[0]
        name = prefix + b"/" + name if prefix else name
    return _Header(block[156:157], name, _number(block[124:136]), _number(block[100:108]))


def _number(field: bytes) -> int:
    """Read a number: octal digits, or big-endian bytes behind a set bit as GNU writes what is too
    large for them.
    """
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    digits = field.split(b"\0", 1)[0].strip(b" ")
    if any(digit not in b"01234567" for digit in digits):
        raise malformed_error("a number in a header is corrupt")
    return int(digits or b"0", 8)
