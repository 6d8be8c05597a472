"""Makers of archives that no honest tool makes: raw tar blocks and raw zip records, with any field put wrongly on purpose."""

from __future__ import annotations

import importlib.util
import io
import struct
import tarfile
import zipfile
import zlib
from typing import NamedTuple

TARS = ("", "gz", "xz", *(["zst"] if importlib.util.find_spec("zstandard") else []))
"""How a tar can be squeezed here: zstd needs its package."""


class Zipped(NamedTuple):
    """One entry of a raw zip; what is None is what is true."""

    name: bytes
    data: bytes = b""
    method: int = 8
    local_name: bytes | None = None
    said_size: int | None = None
    said_packed: int | None = None
    said_crc: int | None = None
    local_size: int | None = None
    said_offset: int | None = None
    flags: int = 0
    system: int = 3
    mode: int = 0o100644
    extra: bytes = b""
    packed: bytes | None = None
    local_method: int | None = None


def raw_zip(
    *entries: Zipped,
    before: bytes = b"",
    after: bytes = b"",
    between: bytes = b"",
    count: int | None = None,
    note: bytes = b"",
) -> bytes:
    """Write records one after another, as told."""
    body, listed = before, b""
    for entry in entries:
        squeezed = zlib.compressobj(9, wbits=-15)
        packed = (
            entry.data if entry.method == 0 else squeezed.compress(entry.data) + squeezed.flush()
        )
        packed = packed if entry.packed is None else entry.packed
        crc = zlib.crc32(entry.data) if entry.said_crc is None else entry.said_crc
        size = len(entry.data) if entry.said_size is None else entry.said_size
        small = len(packed) if entry.said_packed is None else entry.said_packed
        offset = len(body) if entry.said_offset is None else entry.said_offset
        name = entry.name if entry.local_name is None else entry.local_name
        method = entry.method if entry.local_method is None else entry.local_method
        local_size = size if entry.local_size is None else entry.local_size
        body += (
            struct.pack(
                "<4s5H3I2H",
                b"PK\x03\x04",
                20,
                entry.flags,
                method,
                0,
                33,
                crc,
                small,
                local_size,
                len(name),
                0,
            )
            + name
        )
        body += packed + between
        listed += (
            struct.pack(
                "<4s6H3I5H2I",
                b"PK\x01\x02",
                entry.system << 8 | 20,
                20,
                entry.flags,
                entry.method,
                0,
                33,
                crc,
                small,
                size,
                len(entry.name),
                len(entry.extra),
                0,
                0,
                0,
                entry.mode << 16,
                offset,
            )
            + entry.name
            + entry.extra
        )
    number = len(entries) if count is None else count
    return (
        body
        + listed
        + struct.pack(
            "<4s4H2IH", b"PK\x05\x06", 0, 0, number, number, len(listed), len(body), len(note)
        )
        + note
        + after
    )


class Tarred(NamedTuple):
    """One entry of a raw tar."""

    name: bytes
    data: bytes = b""
    kind: bytes = b"0"
    aim: bytes = b""
    size: int | bytes | None = None
    mode: int = 0o644
    checksum: bytes | None = None
    magic: bytes = b"ustar\x0000"
    prefix: bytes = b""


def raw_tar(*entries: Tarred, end: bytes = bytes(1024)) -> bytes:
    """Write blocks one after another, as told."""
    found = b""
    for entry in entries:
        size = len(entry.data) if entry.size is None else entry.size
        field = size if isinstance(size, bytes) else b"%011o\0" % size
        head = bytearray(512)
        head[0:100] = entry.name.ljust(100, b"\0")[:100]
        head[100:108], head[108:116], head[116:124] = (
            b"%07o\0" % entry.mode,
            b"0000000\0",
            b"0000000\0",
        )
        head[124:136], head[136:148], head[156:157] = field, b"00000000000\0", entry.kind
        head[157:257], head[257:265] = entry.aim.ljust(100, b"\0")[:100], entry.magic
        head[345:500] = entry.prefix.ljust(155, b"\0")
        head[148:156] = b" " * 8
        head[148:156] = b"%06o\0 " % sum(head) if entry.checksum is None else entry.checksum
        found += bytes(head) + entry.data + bytes(-len(entry.data) % 512)
    return found + end


def pax(**fields: str) -> bytes:
    """Write the records of an extended header; `__` in a name stands for a dot."""
    found = b""
    for key, value in fields.items():
        rest = f" {key.replace('__', '.')}={value}\n".encode()
        length = len(rest) + len(str(len(rest)))
        length = len(rest) + len(str(length))
        found += str(length).encode() + rest
    return found


def honest_zip(files: dict[str, bytes]) -> bytes:
    """Write a zip as everybody does."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in files.items():
            made.writestr(name, data)
    return held.getvalue()


def honest_tar(files: dict[str, bytes], how: str = "gz") -> bytes:
    """Write a tar as everybody does."""
    if how == "zst":
        import zstandard

        return zstandard.ZstdCompressor(write_checksum=True).compress(honest_tar(files, ""))
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode=f"w:{how}") as made:  # type: ignore[call-overload]
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            made.addfile(entry, io.BytesIO(data))
    return held.getvalue()
