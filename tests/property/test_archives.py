"""What holds for every archive: honest ones come back as they were, and nothing else ever raises anything but our own errors."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import tarfile
import zipfile
from typing import TYPE_CHECKING

import pytest
from fakes.archives import TARS, Tarred, Zipped, honest_tar, honest_zip, pax, raw_tar, raw_zip
from hypothesis import given, settings, strategies as some

from metier.errors import MetierError
from metier.settings.model import SupplySettings
from metier.supply.archives import read_tar, read_zip
from metier.supply.archives.compression import archive_kind, decompress
from metier.supply.safe_names import check_items

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMITS = SupplySettings(unpacked_bytes=1 << 20, files=200)
NAMES = some.text("abcdéß-_", min_size=1, max_size=12)
FILES = some.dictionaries(
    NAMES.map(str.casefold).map(lambda name: f"d/{name}.md"), some.binary(max_size=3000), max_size=8
)


class Held:
    """Bytes in memory that are read like a file."""

    def __init__(self, data: bytes) -> None:
        """Hold them."""
        self.data, self.size = data, len(data)

    def at(self, offset: int, count: int) -> bytes:
        """Give some of them."""
        return self.data[offset : offset + count] if offset >= 0 else b""


def read(data: bytes, window: int = 1000) -> dict[str, bytes]:
    """Read an archive to its end, whatever it is."""
    kind = archive_kind(data[:512])
    if kind == "zip":
        source = Held(data)
        found = {
            one.entry.path: b"".join(read_zip.zip_content(source, one, LIMITS))
            for one in read_zip.zip_entries(source, LIMITS)
        }
    elif kind:
        chunks: Iterator[bytes] = (data[at : at + window] for at in range(0, len(data), window))
        stream = read_tar.tar_entries(decompress(kind, chunks, LIMITS), LIMITS)
        found = {entry.path: b"".join(feed.pieces(entry.size)) for entry, feed in stream}
    else:
        found = {}
    return found


def survives(data: bytes) -> bool:
    """Tell whether an archive was read or refused; anything else is a fault."""
    try:
        read(data)
    except MetierError:
        return False
    return True


@given(FILES, some.sampled_from(["zip", *TARS]), some.integers(1, 3000))
def test_an_honest_archive_comes_back_as_it_was(
    files: dict[str, bytes], how: str, window: int
) -> None:
    data = honest_zip(files) if how == "zip" else honest_tar(files, how)

    assert files == read(data, window)


SAMPLES = {
    "zip": raw_zip(
        Zipped(b"a/SKILL.md", b"hello " * 40), Zipped(b"a/b", b"x", method=0), note=b"note"
    ),
    "tar": raw_tar(
        Tarred(b"h", pax(path="a/SKILL.md", comment="x"), b"x"),
        Tarred(b"a", b"hello " * 40),
        Tarred(b"b", b"x"),
    ),
}
SAMPLES["gz"], SAMPLES["xz"] = gzip.compress(SAMPLES["tar"]), lzma.compress(SAMPLES["tar"])
if "zst" in TARS:
    SAMPLES["zst"] = honest_tar({"a/SKILL.md": b"hello " * 40, "b": b"x"}, "zst")


@pytest.mark.parametrize("kind", SAMPLES)
def test_an_archive_cut_off_at_any_byte_is_refused(kind: str) -> None:
    data = SAMPLES[kind]
    # One block of zeros ends a tar; the rest are padding, and those of xz are padding to four.
    enough = len(data) - 512 if kind == "tar" else len(data)

    read_whole = [cut for cut in range(len(data)) if cut >= 512 and survives(data[:cut])]

    assert survives(data)
    assert all(cut >= enough for cut in read_whole)


@pytest.mark.parametrize("kind", SAMPLES)
@settings(max_examples=300)
@given(
    changes=some.lists(
        some.tuples(some.integers(0, 4000), some.integers(0, 255)), min_size=1, max_size=6
    )
)
def test_any_damage_is_refused_or_read_and_never_anything_else(
    kind: str, changes: list[tuple[int, int]]
) -> None:
    data = bytearray(SAMPLES[kind])
    for at, value in changes:
        data[at % len(data)] = value

    assert survives(bytes(data)) in {True, False}


@settings(max_examples=300)
@given(
    some.sampled_from(
        [b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b\x08", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd", b""]
    ),
    some.binary(max_size=2000),
)
def test_noise_is_refused_or_read_and_never_anything_else(head: bytes, noise: bytes) -> None:
    assert survives(head + noise) in {True, False}


def test_what_the_usual_tools_write_is_read(tmp_path: object) -> None:
    del tmp_path
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as made:
        with made.open("long", "w", force_zip64=True) as file:
            file.write(b"x" * 10)
        made.writestr("ü/ñ", b"y")
        made.mkdir("folder")
    unseekable = _unseekable()
    long = io.BytesIO()
    with tarfile.open(fileobj=long, mode="w:gz", format=tarfile.GNU_FORMAT) as tar:
        entry = tarfile.TarInfo("d/" * 20 + "n" * 150)
        entry.size = 3
        tar.addfile(entry, io.BytesIO(b"abc"))

    assert {"long": b"x" * 10, "ü/ñ": b"y", "folder/": b""} == read(held.getvalue())
    assert {"a": b"1" * 5000, "b": b"2"} == read(unseekable)
    assert {"d/" * 20 + "n" * 150: b"abc"} == read(long.getvalue())
    assert {"a": b"1"} == read(
        gzip.compress(honest_tar({"a": b"1"}, "")[:700])
        + gzip.compress(honest_tar({"a": b"1"}, "")[700:])
    )


@pytest.mark.parametrize("how", TARS[1:])
def test_streams_one_after_another_are_one_wherever_the_pieces_end(how: str) -> None:
    first, second = os.urandom(500), os.urandom(500)
    parts = [squeezed(how, part) for part in (first, second)]
    data, kind = b"".join(parts), archive_kind(parts[0])
    cuts = [
        (one, other)
        for one in range(len(parts[0]) - 12, len(parts[0]) + 3)
        for other in range(one, len(data), 61)
    ]

    found = {
        b"".join(decompress(kind, iter([data[:one], data[one:other], data[other:]]), LIMITS))
        for one, other in cuts
    }

    assert {first + second} == found


def squeezed(how: str, data: bytes) -> bytes:
    """Squeeze bytes into one stream."""
    if how == "zst":
        import zstandard

        return zstandard.ZstdCompressor(write_checksum=True).compress(data)
    return gzip.compress(data) if how == "gz" else lzma.compress(data)


def _unseekable() -> bytes:
    """Write a zip to a pipe, where sizes can only follow their entries."""

    class Pipe(io.RawIOBase):
        def __init__(self) -> None:
            self.data = b""

        def writable(self) -> bool:
            return True

        def write(self, data: object) -> int:
            self.data += bytes(data)  # type: ignore[call-overload]
            return len(bytes(data))  # type: ignore[call-overload]

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("a", b"1" * 5000)
        made.writestr("b", b"2")
    return pipe.data


@given(some.lists(some.text(max_size=30), max_size=6))
def test_whatever_paths_pass_are_relative_plain_and_different(paths: list[str]) -> None:
    from metier.supply.model import Item

    try:
        found = [
            item.path for item in check_items([Item(path, 0, "file") for path in paths], LIMITS)
        ]
    except MetierError:
        return

    assert len({path.casefold() for path in found}) == len(found)
    assert all(step not in {"", ".", ".."} for path in found for step in path.split("/"))
