"""Zip: the list at the end and the headers before each entry must tell the same story, byte for
byte. Pure.
"""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING, NamedTuple

from metier.supply.archives.limits import (
    RATIO_SLACK_BYTES,
    WINDOW_BYTES,
    ArchiveEntry,
    bomb_error,
    malformed_error,
    mode_of,
    too_large_error,
    too_many_error,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metier.settings.model import SupplySettings
    from metier.supply.archives.limits import RandomAccessBytes

_END = struct.Struct("<4s4H2IH")
_END64 = struct.Struct("<4sQ2H2I4Q")
_LOCATOR = struct.Struct("<4sIQI")
_LISTED = struct.Struct("<4s6H3I5H2I")
_LOCAL = struct.Struct("<4s5H3I2H")
_FULL16 = 0xFFFF
_FULL32 = 0xFFFFFFFF
_ENCRYPTED = 0x1 | 0x40 | 0x2000
_SIZES_FOLLOW = 0x8
_UTF8 = 0x800
_DOS = frozenset({0, 6, 10, 11, 14})
"""Systems that made an archive and separate with a backslash."""
_DOS_FOLDER = 0x10


class ZipEntry(NamedTuple):
    """An entry and where its bytes are."""

    entry: ArchiveEntry
    raw: bytes
    flags: int
    method: int
    crc: int
    packed: int
    offset: int


def zip_entries(source: RandomAccessBytes, limits: SupplySettings) -> list[ZipEntry]:
    """List an archive after comparing the list with every header; whatever does not agree or
    overlaps is malformed.
    """
    count, start, end = _ending(source)
    if count > limits.files:
        raise too_many_error(limits.files)
    found = list(_listed(source, count, start, end))
    places = {0}
    total = 0
    for packed in sorted(found, key=lambda one: one.offset):
        # Each begins where the one before ends: nothing overlaps, and nothing hides between two.
        if packed.offset not in places:
            raise malformed_error("its entries overlap, or there is data between them")
        places = _ends(source, packed, start)
        total += packed.entry.size
        if packed.entry.size > limits.ratio * packed.packed + RATIO_SLACK_BYTES:
            raise bomb_error(limits.ratio)
    if start not in places:
        raise malformed_error("there is data between its entries and its central directory")
    if total > limits.ratio * source.size + RATIO_SLACK_BYTES:
        raise bomb_error(limits.ratio)
    if total > limits.unpacked_bytes:
        raise too_large_error(limits.unpacked_bytes)
    return found


def zip_content(
    source: RandomAccessBytes, packed: ZipEntry, limits: SupplySettings
) -> Iterator[bytes]:
    """Give the bytes of an entry: counted as they come out, held to the announced size, and
    compared with their checksum.
    """
    count = crc = 0
    for piece in _unfolded(source, packed):
        count += len(piece)
        if count > packed.entry.size:
            raise malformed_error("an entry is longer than its header says")
        if count > limits.ratio * packed.packed + RATIO_SLACK_BYTES:
            raise bomb_error(limits.ratio)
        crc = zlib.crc32(piece, crc)
        yield piece
    if count != packed.entry.size:
        raise malformed_error("an entry is shorter than its header says")
    if crc != packed.crc:
        raise malformed_error("the checksum of an entry is wrong")


def _unfolded(source: RandomAccessBytes, packed: ZipEntry) -> Iterator[bytes]:
    begin = _body(source, packed)
    stream = zlib.decompressobj(wbits=-15) if packed.method else None
    for at in range(begin, begin + packed.packed, WINDOW_BYTES):
        data = source.at(at, min(WINDOW_BYTES, begin + packed.packed - at))
        if stream is None:
            yield data
            continue
        try:
            while data and not stream.eof:
                yield stream.decompress(data, WINDOW_BYTES)
                data = stream.unconsumed_tail
        except zlib.error as error:
            raise malformed_error("the data of an entry is corrupt") from error
        if data or stream.unused_data:
            raise malformed_error("there is data after the end of an entry")
    while stream is not None and not stream.eof:
        rest = stream.decompress(stream.unconsumed_tail, WINDOW_BYTES)
        if not rest:
            raise malformed_error("the data of an entry ends too soon")
        yield rest


# --- the list at the end


def _ending(source: RandomAccessBytes) -> tuple[int, int, int]:
    """Give how many entries there are, and where their list begins and ends. Only one ending can be
    the right one.
    """
    reach = min(source.size, _END.size + _FULL16)
    tail = source.at(source.size - reach, reach)
    places = []
    at = tail.find(b"PK\x05\x06")
    while at >= 0:
        if at + _END.size <= len(tail) and at + _END.size + _END.unpack_from(tail, at)[-1] == len(
            tail
        ):
            places.append(at)
        at = tail.find(b"PK\x05\x06", at + 1)
    if len(places) != 1:
        raise malformed_error(
            "it has more than one end record"
            if places
            else "its end record is missing, or there is data after it"
        )
    _mark, disk, first, here, count, size, start, _note = _END.unpack_from(tail, places[0])
    end = source.size - reach + places[0]
    large = source.at(end - _LOCATOR.size, _LOCATOR.size) if end >= _LOCATOR.size else b""
    if large.startswith(b"PK\x06\x07"):
        return _ending64(source, large, end - _LOCATOR.size, (count, size, start))
    if disk or first or here != count or start + size != end:
        raise malformed_error("its central directory isn't where its end record says")
    return count, start, end


def _ending64(
    source: RandomAccessBytes, locator: bytes, at: int, small: tuple[int, int, int]
) -> tuple[int, int, int]:
    _mark, disk, place, disks = _LOCATOR.unpack(locator)
    record = source.at(place, _END64.size) if place + _END64.size <= at else b""
    if disk or disks > 1 or not record.startswith(b"PK\x06\x06"):
        raise malformed_error("its zip64 end record isn't where its end record says")
    _mark, length, _made, _needed, disk, first, here, count, size, start = _END64.unpack(record)
    agree = all(
        few in {many, full}
        for few, many, full in zip(
            small, (count, size, start), (_FULL16, _FULL32, _FULL32), strict=True
        )
    )
    if (
        disk
        or first
        or here != count
        or place + 12 + length != at
        or start + size != place
        or not agree
    ):
        raise malformed_error("its two end records disagree")
    return count, start, place


def _listed(source: RandomAccessBytes, count: int, start: int, end: int) -> Iterator[ZipEntry]:
    if count * _LISTED.size > end - start:
        raise malformed_error("its central directory is shorter than its end record says")
    held = b""
    used = 0
    at = start
    for _turn in range(count):
        if len(held) - used < _LISTED.size + 3 * _FULL16 and at + len(held) - used < end:
            held = held[used:] + source.at(
                at + len(held) - used, min(16 * WINDOW_BYTES, end - at - len(held) + used)
            )
            used = 0
        packed, length = _listing(held, used)
        yield packed
        used = used + length
        at = at + length
    if at != end:
        raise malformed_error("its central directory has more entries than its end record says")


def _listing(data: bytes, at: int) -> tuple[ZipEntry, int]:
    """Read one entry of the list; give it with its length."""
    if len(data) - at < _LISTED.size or not data.startswith(b"PK\x01\x02", at):
        raise malformed_error("its central directory is corrupt")
    (
        _mark,
        made,
        _needed,
        flags,
        method,
        _time,
        _date,
        crc,
        packed,
        size,
        name,
        extra,
        note,
        disk,
        _inner,
        outer,
        offset,
    ) = _LISTED.unpack_from(data, at)
    length = _LISTED.size + name + extra + note
    if at + length > len(data):
        raise malformed_error("its central directory is corrupt")
    begin = at + _LISTED.size
    raw = data[begin : begin + name]
    more = dict(_extras(data[begin + name : begin + name + extra]))
    size, packed, offset = _long((size, packed, offset), more.get(1, b""))
    if flags & _ENCRYPTED:
        raise malformed_error("it is encrypted")
    if method not in {0, 8} or disk not in {0, _FULL16} or (method == 0 and size != packed):
        raise malformed_error("an entry uses a compression method that metier doesn't support")
    entry = _entry(_name(raw, flags, more), made >> 8, outer, size)
    return ZipEntry(
        entry=entry, raw=raw, flags=flags, method=method, crc=crc, packed=packed, offset=offset
    ), length


def _extras(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        kind, length = struct.unpack_from("<HH", data, at)
        if at + 4 + length > len(data):
            raise malformed_error("an extra field is corrupt")
        yield kind, data[at + 4 : at + 4 + length]
        at += 4 + length


def _long(fields: tuple[int, ...], extra: bytes) -> tuple[int, ...]:
    """Put the long form of each number in the place of a short one that is full."""
    found = []
    at = 0
    for field in fields:
        if field == _FULL32:
            if at + 8 > len(extra):
                raise malformed_error("a zip64 number is missing")
            field = struct.unpack_from("<Q", extra, at)[0]  # noqa: PLW2901 - its long form
            at += 8
        found.append(field)
    return tuple(found)


def _name(raw: bytes, flags: int, more: dict[int, bytes]) -> str:
    """Decode a name: as UTF-8 where it says so or is so, otherwise as the first zips were."""
    said = more.get(0x7075, b"")
    if said[:1] == b"\x01" and said[1:5] == struct.pack("<I", zlib.crc32(raw)):
        raw = said[5:]
    elif not flags & _UTF8:
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            return raw.decode("cp437")
    return raw.decode("utf-8", "surrogateescape")


def _entry(name: str, system: int, outer: int, size: int) -> ArchiveEntry:
    path = name.replace("\\", "/") if system in _DOS else name
    mode = mode_of(outer >> 16)
    if (
        mode == "folder"
        or (path.endswith("/") and mode in {"file", "exec"})
        or (not outer >> 16 and outer & _DOS_FOLDER)
    ):
        if size:
            raise malformed_error("a folder entry contains data")
        return ArchiveEntry(path.rstrip("/") + "/", 0, "file")
    return ArchiveEntry(path, size, mode)


# --- the header before each entry


def _ends(source: RandomAccessBytes, packed: ZipEntry, limit: int) -> set[int]:
    """Compare an entry's header with the list, and give where the next one may begin: behind the
    sizes that may follow it.
    """
    head = source.at(packed.offset, _LOCAL.size)
    if (
        packed.offset + _LOCAL.size > limit
        or len(head) < _LOCAL.size
        or not head.startswith(b"PK\x03\x04")
    ):
        raise malformed_error("an entry isn't where the central directory says")
    _mark, _needed, flags, method, _time, _date, crc, small, size, name, extra = _LOCAL.unpack(head)
    rest = source.at(packed.offset + _LOCAL.size, name + extra)
    end = packed.offset + _LOCAL.size + name + extra + packed.packed
    if len(rest) < name + extra or end > limit or rest[:name] != packed.raw:
        raise malformed_error(
            "an entry's name differs from the central directory, or it extends past the end of the file"
        )
    size, small = _long((size, small), dict(_extras(rest[name:])).get(1, b""))
    later = bool(flags & _SIZES_FOLLOW)
    told = (crc, small, size)
    listed = (packed.crc, packed.packed, packed.entry.size)
    if (flags ^ packed.flags) & (_ENCRYPTED | _SIZES_FOLLOW | _UTF8) or method != packed.method:
        raise malformed_error("an entry's compression method differs from the central directory")
    if told != listed and not (
        later and all(one in {0, other} for one, other in zip(told, listed, strict=True))
    ):
        raise malformed_error("an entry's sizes differ from the central directory")
    return _descriptors(source, packed, end, limit) if later else {end}


def _descriptors(source: RandomAccessBytes, packed: ZipEntry, end: int, limit: int) -> set[int]:
    """Give where the sizes that follow an entry end. They come with or without a mark, short or
    long; they must be right.
    """
    data = source.at(end, 24)
    found = set()
    for mark in (b"PK\x07\x08", b""):
        for form in ("<III", "<IQQ"):
            length = len(mark) + struct.calcsize(form)
            fits = len(data) >= length and end + length <= limit and data.startswith(mark)
            if fits and struct.unpack_from(form, data, len(mark)) == (
                packed.crc,
                packed.packed,
                packed.entry.size,
            ):
                found.add(end + length)
    if not found:
        raise malformed_error("the sizes after an entry differ from the central directory")
    return found


def _body(source: RandomAccessBytes, packed: ZipEntry) -> int:
    """Give where the bytes of an entry begin."""
    lengths = source.at(packed.offset + 26, 4)
    if len(lengths) < 4:
        raise malformed_error("it became shorter while metier read it")
    name, extra = struct.unpack("<HH", lengths)
    return packed.offset + _LOCAL.size + int(name) + int(extra)
