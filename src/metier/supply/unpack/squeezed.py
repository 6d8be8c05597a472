"""gzip, xz and zstd as streams with limits: never more than a window of output at a time, and never far more than went in. Pure."""

from __future__ import annotations

import lzma
import zlib
from typing import TYPE_CHECKING

from metier.errors import SourceError
from metier.supply.unpack.found import SLACK, WINDOW, bomb, malformed, too_large

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from metier.settings.tables import Supply

XZ_MEMORY = 80 << 20
"""Enough for what `xz -9` makes, whose dictionary has 64 MiB."""
ZSTD_WINDOW = 1 << 27
ZSTD_BYTES = 256
"""What is unfolded at once: each four bytes of it may stand for 128 KiB, and there is no other way to be given less."""
MOST_MEMBERS = 100_000
_PAD = 4
"""Zeros between and after xz streams come in fours."""
_PER_ENTRY = 4096
"""What a tar may add to each entry: headers, names and padding."""


def kind_of(head: bytes) -> str:
    """Tell an archive by its first bytes: `zip`, `tar`, `gzip`, `xz`, `zstd`, or nothing. A name's ending proves nothing."""
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    if head.startswith(b"\x1f\x8b"):
        return "gzip"
    if head.startswith(b"\xfd7zXZ\x00"):
        return "xz"
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return "zstd"
    return "tar" if head[257:262] == b"ustar" else ""


def loosened(kind: str, chunks: Iterator[bytes], limits: Supply) -> Iterator[bytes]:
    """Give the plain bytes of a stream, whatever squeezed it, and stop where they become too many."""
    counted = _Counted(chunks)
    out, most = 0, limits.unpacked_bytes + _PER_ENTRY * limits.files
    for piece in _READERS[kind](counted):
        out += len(piece)
        if out > limits.ratio * counted.count + SLACK:
            raise bomb(limits.ratio)
        if out > most:
            raise too_large(limits.unpacked_bytes)
        yield piece


class _Counted:
    """Compressed bytes, counted as they are used."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        """Count from nothing."""
        self.chunks, self.count = chunks, 0

    def next(self) -> bytes:
        """Give the next bytes that are not none; nothing at the end."""
        for chunk in self.chunks:
            if chunk:
                self.count += len(chunk)
                return chunk
        return b""


def _plain(source: _Counted) -> Iterator[bytes]:
    while data := source.next():
        yield data


def _gzip(source: _Counted) -> Iterator[bytes]:
    """Read every member to its checksum; what follows the last and is no member is refused."""
    data, members = source.next(), 0
    while data:
        members += 1
        if members > MOST_MEMBERS:
            raise malformed("its gzip stream has too many members")
        stream = zlib.decompressobj(wbits=31)
        try:
            while not stream.eof:
                piece = stream.decompress(data, WINDOW)
                yield piece
                data = stream.unconsumed_tail
                if not data and not piece and not stream.eof:  # whatever was held back is out
                    data = source.next()
                    _go_on(data)
        except zlib.error as error:
            raise malformed("its gzip stream is broken") from error
        data = stream.unused_data or source.next()


def _go_on(data: bytes) -> None:
    if not data:
        raise malformed("its gzip stream ends too soon")


def _xz(source: _Counted) -> Iterator[bytes]:
    data, streams = source.next(), 0
    while data:
        streams += 1
        if streams > MOST_MEMBERS:
            raise malformed("it has too many xz streams")
        stream = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=XZ_MEMORY)
        try:
            while not stream.eof:
                yield stream.decompress(data, WINDOW)
                data = b""
                if stream.needs_input and not stream.eof:
                    data = source.next()
                    if not data:
                        raise malformed("its xz stream ends too soon")
        except (lzma.LZMAError, EOFError) as error:
            raise malformed("its xz stream is broken, or needs too much memory") from error
        data = _after_padding(stream.unused_data, source)


def _after_padding(data: bytes, source: _Counted) -> bytes:
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
        raise malformed("the padding of its xz stream is broken")
    return data


def _zstd(source: _Counted) -> Iterator[bytes]:
    try:
        import zstandard
    except ImportError:
        hint = "pip install 'metier[zstd]'"
        raise SourceError("the archive is packed with zstd, which needs another package", hint=hint, code="zstd-missing") from None
    loosener = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW)
    data, frames = source.next(), 0
    while data:
        frames += 1
        if frames > MOST_MEMBERS:
            raise malformed("it has too many zstd frames")
        frame = loosener.decompressobj()
        try:
            while not frame.eof:
                if not data and not (data := source.next()):
                    raise malformed("its zstd stream ends too soon")
                yield frame.decompress(data[:ZSTD_BYTES])
                data = frame.unused_data + data[ZSTD_BYTES:]
        except zstandard.ZstdError as error:
            raise malformed("its zstd stream is broken, or needs too much memory") from error
        data = data or source.next()


_READERS: dict[str, Callable[[_Counted], Iterator[bytes]]] = {"tar": _plain, "gzip": _gzip, "xz": _xz, "zstd": _zstd}
