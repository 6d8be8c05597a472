"""What an archive may not do: say too much before it says anything, or give the same bytes twice."""

from __future__ import annotations

import struct
from typing import NamedTuple

import pytest
from fakes.archives import Tarred, Zipped, raw_tar, raw_zip

from metier.errors import SourceError
from metier.settings.model import SupplySettings
from metier.supply.archives import limits, read_tar, read_zip

FILE = Tarred(b"pdf/SKILL.md", b"x")


def names(data: bytes) -> list[str]:
    return [entry.path for entry, _feed in read_tar.tar_entries(iter([data]), SupplySettings())]


def long(kind: bytes, size: int) -> Tarred:
    """Give a header that holds so many bytes: a record of pax, or a long name of GNU."""
    if kind in b"LK":
        return Tarred(b"././@LongLink", b"a" * (size - 1) + b"\0", kind)
    head = b"%d comment=" % size
    return Tarred(b"pax", head + b"a" * (size - len(head) - 1) + b"\n", kind)


@pytest.mark.parametrize("kind", [b"x", b"g", b"L", b"K"])
def test_a_header_may_hold_so_many_bytes_and_not_one_more(kind: bytes) -> None:
    assert 1 == len(names(raw_tar(long(kind, limits.MAX_PAX_BYTES), FILE)))

    with pytest.raises(SourceError, match="an extended header is too long"):
        names(raw_tar(long(kind, limits.MAX_PAX_BYTES + 1), FILE))


def test_so_many_headers_may_stand_before_one_entry_and_not_one_more() -> None:
    one = long(b"x", 64)

    assert ["pdf/SKILL.md"] == names(raw_tar(*[one] * (limits.MAX_PAX_HEADERS - 1), FILE))
    with pytest.raises(SourceError, match="too many extended headers"):
        names(raw_tar(*[one] * limits.MAX_PAX_HEADERS, FILE))


def test_an_archive_that_ends_after_a_header_is_malformed() -> None:
    with pytest.raises(SourceError, match="it ends after an extended header"):
        names(raw_tar(FILE, Tarred(b"pax", b"12 path=a/b\n", b"x")))


class Held(NamedTuple):
    """Bytes that can be read at any place."""

    data: bytes

    @property
    def size(self) -> int:
        return len(self.data)

    def at(self, offset: int, count: int) -> bytes:
        return self.data[offset : offset + count]


def parts(*entries: Zipped) -> tuple[bytes, bytes]:
    """Give the entries of a zip with the headers before them, and its list."""
    data = raw_zip(*entries)
    size, start = struct.unpack_from("<2I", data, len(data) - 10)
    return data[:start], data[start : start + size]


def zipped(body: bytes, listed: bytes, count: int) -> bytes:
    return (
        body
        + listed
        + struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, count, count, len(listed), len(body), 0)
    )


def test_an_entry_inside_the_bytes_of_another_is_malformed() -> None:
    inner, _listed = parts(Zipped(b"b", b"inside", 0))
    outer, first = parts(Zipped(b"a", inner, 0))
    _body, second = parts(Zipped(b"b", b"inside", 0, said_offset=len(outer) - len(inner)))

    alone = read_zip.zip_entries(Held(zipped(outer, first, 1)), SupplySettings())

    assert ["a"] == [one.entry.path for one in alone]
    with pytest.raises(SourceError, match="its entries overlap"):
        read_zip.zip_entries(Held(zipped(outer, first + second, 2)), SupplySettings())


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (
            raw_zip(Zipped(b"a", b"x"), between=b"hidden"),
            "between its entries and its central directory",
        ),
        (
            raw_zip(Zipped(b"a", b"x"), Zipped(b"b", b"y"), between=b"hidden"),
            "there is data between them",
        ),
        (raw_zip(Zipped(b"a", b"x"), before=b"hidden"), "there is data between them"),
    ],
    ids=["after the last", "after the first", "before the first"],
)
def test_nothing_hides_around_the_entries(data: bytes, why: str) -> None:
    with pytest.raises(SourceError, match=why):
        read_zip.zip_entries(Held(data), SupplySettings())
