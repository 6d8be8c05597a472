"""gzip, xz and zstd as streams with limits: never more than a window of output at a time, and never
far more than went in. Pure.
"""

from __future__ import annotations

import lzma
import zlib
from functools import partial
from typing import TYPE_CHECKING

from metier.errors import SourceError
from metier.supply.archives.limits import (
    MAX_STREAM_MEMBERS,
    MAX_XZ_MEMORY_BYTES,
    MAX_ZSTD_WINDOW_BYTES,
    RATIO_SLACK_BYTES,
    TAR_BYTES_PER_ENTRY,
    WINDOW_BYTES,
    ZSTD_INPUT_BYTES,
    bomb_error,
    malformed_error,
    too_large_error,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from metier.settings.model import SupplySettings
    from metier.supply.model import Chunks

_PAD = 4
"""Zeros between and after xz streams come in fours."""


def archive_kind(head: bytes) -> str:
    """Tell an archive by its first bytes: `zip`, `tar`, `gzip`, `xz`, `zstd`, or nothing. A name's
    ending proves nothing.
    """
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    if head.startswith(b"\x1f\x8b"):
        return "gzip"
    if head.startswith(b"\xfd7zXZ\x00"):
        return "xz"
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return "zstd"
    return "tar" if head[257:262] == b"ustar" else ""


def decompress(kind: str, chunks: Chunks, limits: SupplySettings) -> Chunks:
    """Give the plain bytes of a stream, whatever squeezed it, and stop where they become too
    many.
    """
    counted = _CompressedBytes(chunks)
    out = 0
    most = limits.unpacked_bytes + TAR_BYTES_PER_ENTRY * limits.files
    for piece in _READERS[kind](counted):
        out += len(piece)
        if out > limits.ratio * counted.count + RATIO_SLACK_BYTES:
            raise bomb_error(limits.ratio)
        if out > most:
            raise too_large_error(limits.unpacked_bytes)
        yield piece


class _CompressedBytes:
    """Compressed bytes, counted as they are used."""

    def __init__(self, chunks: Chunks) -> None:
        """Count from nothing."""
        self.chunks = chunks
        self.count = 0

    def next(self) -> bytes:
        """Give the next bytes that are not none; nothing at the end."""
        for chunk in self.chunks:
            if chunk:
                self.count += len(chunk)
                return chunk
        return b""

    def more(self, kind: str) -> bytes:
        """Give the next bytes; a stream that ends before is malformed."""
        data = self.next()
        if not data:
            raise malformed_error(f"its {kind} stream ends too soon")
        return data


def _streams(
    read_one: Callable[[bytes, _CompressedBytes], Generator[bytes, None, bytes]],
    too_many: str,
    source: _CompressedBytes,
) -> Chunks:
    """Read one stream after the other; `read_one` takes the bytes at hand and gives back what
    follows its stream.
    """
    data = source.next()
    for _turn in range(MAX_STREAM_MEMBERS):
        if not data:
            return
        data = yield from read_one(data, source)
    if data:
        raise malformed_error(too_many)


def _gzip(data: bytes, source: _CompressedBytes) -> Generator[bytes, None, bytes]:
    """Read a member to its checksum; what follows the last and is no member is refused."""
    stream = zlib.decompressobj(wbits=31)
    try:
        while not stream.eof:
            piece = stream.decompress(data, WINDOW_BYTES)
            yield piece
            data = stream.unconsumed_tail
            if not data and not piece and not stream.eof:  # whatever was held back is out
                data = source.more("gzip")
    except zlib.error as error:
        raise malformed_error("its gzip stream is corrupt") from error
    return stream.unused_data or source.next()


def _xz(data: bytes, source: _CompressedBytes) -> Generator[bytes, None, bytes]:
    stream = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=MAX_XZ_MEMORY_BYTES)
    try:
        while not stream.eof:
            yield stream.decompress(data, WINDOW_BYTES)
            data = source.more("xz") if stream.needs_input and not stream.eof else b""
    except (lzma.LZMAError, EOFError) as error:
        raise malformed_error("its xz stream is corrupt, or needs too much memory") from error
    return _after_padding(stream.unused_data, source)


def _after_padding(data: bytes, source: _CompressedBytes) -> bytes:
    """Give what follows the zeros behind an xz stream."""
    zeros = 0
    while data := data or source.next():
        rest = data.lstrip(b"\0")
        zeros += len(data) - len(rest)
        if rest:
            data = rest
            break
        data = b""
    if zeros % _PAD:
        raise malformed_error("the padding of its xz stream is corrupt")
    return data


def _zstd(data: bytes, source: _CompressedBytes) -> Generator[bytes, None, bytes]:
    try:
        import zstandard
    except ImportError:
        raise SourceError(
            "the archive is compressed with zstd, which needs an extra package",
            hint="pip install 'metier[zstd]'",
            code="zstd-missing",
        ) from None
    frame = zstandard.ZstdDecompressor(max_window_size=MAX_ZSTD_WINDOW_BYTES).decompressobj()
    try:
        while not frame.eof:
            data = data or source.more("zstd")
            yield frame.decompress(data[:ZSTD_INPUT_BYTES])
            data = frame.unused_data + data[ZSTD_INPUT_BYTES:]
    except zstandard.ZstdError as error:
        raise malformed_error("its zstd stream is corrupt, or needs too much memory") from error
    return data or source.next()


_READERS: dict[str, Callable[[_CompressedBytes], Chunks]] = {
    "tar": lambda source: iter(source.next, b""),
    "gzip": partial(_streams, _gzip, "its gzip stream has too many members"),
    "xz": partial(_streams, _xz, "it has too many xz streams"),
    "zstd": partial(_streams, _zstd, "it has too many zstd frames"),
}
