"""Tar: ustar, the long names of GNU and the extended headers of pax. One pass, no seeking, nothing believed. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.supply.unpack.found import RUNS, WINDOW, Entry, malformed, too_many

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from metier.settings.tables import Supply
    from metier.supplies import ItemMode

BLOCK = 512
MOST_EXTENDED = 1 << 20
"""Bytes of one extended header or long name."""
MOST_IN_A_ROW = 16
"""Extended headers before one entry."""
_CHECKSUM = slice(148, 156)
_ZEROS = bytes(BLOCK)
_HANDLED = ("path", "size", "linkpath")


class Feed:
    """A stream that is taken in pieces of a known length."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        """Hold what was read and not taken yet."""
        self.chunks, self.held, self.at = chunks, b"", 0

    def some(self, most: int) -> bytes:
        """Give at least one byte and at most so many; nothing at the end."""
        while self.at >= len(self.held):
            chunk = next(self.chunks, None)
            if chunk is None:
                return b""
            self.held, self.at = chunk, 0
        piece = self.held[self.at : self.at + most]
        self.at += len(piece)
        return piece

    def take(self, count: int) -> bytes:
        """Give exactly so many bytes."""
        return b"".join(self.pieces(count))

    def pieces(self, count: int) -> Iterator[bytes]:
        """Give exactly so many bytes, in pieces; a stream that ends before is malformed."""
        while count > 0:
            piece = self.some(min(count, WINDOW))
            if not piece:
                raise malformed("it ends in the middle of an entry")
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


def entries(chunks: Iterator[bytes], limits: Supply) -> Iterator[tuple[Entry, Feed]]:
    """Give each entry with the feed that stands at its bytes; how many of them are left untaken does not matter."""
    feed, count = Feed(chunks), 0
    while (found := _next(feed)) is not None:
        count += 1
        if count > limits.files:
            raise too_many(limits.files)
        before = _Measured(feed)
        yield found, before
        feed.skip(found.size - before.taken + -found.size % BLOCK)
    _check_end(feed)


class _Measured(Feed):
    """A feed that knows how much of an entry was taken."""

    def __init__(self, feed: Feed) -> None:
        """Begin at the entry's first byte."""
        self.feed, self.taken = feed, 0

    def some(self, most: int) -> bytes:
        """Take from the stream itself."""
        piece = self.feed.some(most)
        self.taken += len(piece)
        return piece


def _next(feed: Feed) -> Entry | None:
    """Give the next entry with all that headers before it said of it; nothing at the end of the archive."""
    pax: dict[str, bytes] = {}
    for _turn in range(MOST_IN_A_ROW):
        header = _header(feed.take(BLOCK))
        if header is None:
            if pax:
                raise malformed("it ends after an extended header")
            return None
        if header.kind in b"xgLK":
            _extend(pax, header, feed)
        else:
            return _entry(header, pax)
    raise malformed("one entry has too many extended headers")


def _extend(pax: dict[str, bytes], header: _Header, feed: Feed) -> None:
    if header.size > MOST_EXTENDED:
        raise malformed("an extended header is too long")
    data = feed.take(header.size)
    feed.skip(-header.size % BLOCK)
    if header.kind == b"L":
        pax["path"] = data.split(b"\0", 1)[0]
    elif header.kind == b"K":
        pax["linkpath"] = data.split(b"\0", 1)[0]
    else:
        records = dict(_records(data))
        if any(key.startswith("GNU.sparse") for key in records):
            raise malformed("it has sparse files, which are not read")
        if header.kind == b"g" and not records.keys().isdisjoint(_HANDLED):
            raise malformed("one header names the path or size of every entry")
        pax.update((key, records[key]) for key in _HANDLED if key in records)


def _records(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Take the records of a pax header apart: `LENGTH KEY=VALUE` and a newline, where the length counts the whole."""
    at = 0
    while at < len(data):
        space = data.find(b" ", at, at + 12)
        digits = data[at:space] if space > at else b""
        length = int(digits) if digits.isdigit() else 0
        record = data[space + 1 : at + length]
        key, found, value = record.partition(b"=")
        if length <= 0 or at + length > len(data) or not record.endswith(b"\n") or not found:
            raise malformed("an extended header is broken")
        yield key.decode("utf-8", "replace"), value[:-1]
        at += length


def _entry(header: _Header, pax: dict[str, bytes]) -> Entry:
    name, size = pax.get("path", header.name), header.size
    if "size" in pax:
        said = pax["size"]
        if not said.isdigit() or len(said) > 18 or int(said) != size:
            # Readers that believe the one and readers that believe the other would find different entries.
            raise malformed("two headers announce different sizes of one entry")
    path = name.decode("utf-8", "surrogateescape")
    mode = _mode(header)
    if mode == "folder" or (mode in {"file", "exec"} and path.endswith("/")):
        if size:
            raise malformed("a folder has bytes of its own")
        return Entry(path.rstrip("/") + "/", 0, "file")
    if size and mode in {"link", "other"}:
        raise malformed("a link or device has bytes of its own")
    return Entry(path, size, mode)


def _mode(header: _Header) -> ItemMode | Literal["folder"]:
    if header.kind in b"0\0" or header.kind == b"7":
        return "exec" if header.mode & RUNS else "file"
    if header.kind in b"12":
        return "link"
    if header.kind in b"346":
        return "other"
    if header.kind == b"5":
        return "folder"
    raise malformed(f"it has an entry of the unknown kind {header.kind!r}")


def _header(block: bytes) -> _Header | None:
    """Read one header; nothing for the block of zeros that ends an archive."""
    if block == _ZEROS:
        return None
    blank = bytearray(block)
    blank[_CHECKSUM] = b" " * 8
    signed = sum(byte - 256 if byte > 127 else byte for byte in blank) if not block.isascii() else -1
    if _number(block[_CHECKSUM]) not in {sum(blank), signed}:
        raise malformed("the checksum of a header is wrong")
    name = block[:100].split(b"\0", 1)[0]
    if block[257:263] == b"ustar\0":
        prefix = block[345:500].split(b"\0", 1)[0]
        name = prefix + b"/" + name if prefix else name
    return _Header(block[156:157], name, _number(block[124:136]), _number(block[100:108]))


def _number(field: bytes) -> int:
    """Read a number: octal digits, or big-endian bytes behind a set bit as GNU writes what is too large for them."""
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    digits = field.split(b"\0", 1)[0].strip(b" ")
    if any(digit not in b"01234567" for digit in digits):
        raise malformed("a number in a header is broken")
    return int(digits or b"0", 8)


def _check_end(feed: Feed) -> None:
    """See that nothing but zeros follows the end: another reader could take it for further entries."""
    while piece := feed.some(WINDOW):
        if piece.strip(b"\0"):
            raise malformed("bytes follow its end")
