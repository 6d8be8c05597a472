"""One test for each attack that an archive can carry, with the code under which it is refused; nothing is written outside."""

from __future__ import annotations

import gzip
import lzma
import os
import struct
import zlib
from typing import TYPE_CHECKING

import pytest
from fakes.archives import TARS, Tarred, Zipped, honest_tar, honest_zip, pax, raw_tar, raw_zip

from metier.errors import MetierError
from metier.settings.model import SupplySettings
from metier.store.io.disk_calls import OsDiskCalls
from metier.supply.io.archive import ArchiveFetcher
from metier.supply.io.quarantine import Quarantine
from metier.supply.model import Request
from metier.supply.safe_names import check_items

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SMALL = SupplySettings(unpacked_bytes=4 << 20, file_bytes=2 << 20, files=1_000, ratio=50)
DOCUMENT = b"---\nname: a\ndescription: b\n---\n"


def unpacked(data: bytes, folder: Path, limits: SupplySettings = SMALL) -> dict[str, bytes]:
    """Do with an archive what an installation does, up to quarantine; give what lies there."""
    file = folder / "archive"
    file.write_bytes(data)
    tree = ArchiveFetcher(limits).open(Request("archive", str(file)))
    try:
        items = check_items(tree.items(), limits)
        with Quarantine(str(folder / "staging"), None, OsDiskCalls()) as desk:
            place, files = desk.lay(tree, items, "", limits)
            found = {}
            for written in files:
                with open(f"{place}/{written.path}", "rb") as written_file:
                    found[written.path] = written_file.read()
            return found
    finally:
        tree.close()


def code_of(data: bytes, folder: Path, limits: SupplySettings = SMALL) -> str:
    """Give the code of the refusal, having seen that nothing is left behind."""
    inner = folder / "inner"
    inner.mkdir(parents=True, exist_ok=True)
    with pytest.raises(MetierError) as caught:
        unpacked(data, inner, limits)
    left = {
        os.path.relpath(os.path.join(at, name), folder)
        for at, _folders, names in os.walk(folder)
        for name in names
    }
    assert left <= {"inner/archive", "inner/staging/.lock"}
    return caught.value.code


PATHS = {
    "climbs": (b"../evil", "unsafe-path"),
    "climbs from inside": (b"a/../../evil", "unsafe-path"),
    "absolute": (b"/etc/evil", "unsafe-path"),
    "drive letter": (b"C:/evil", "unsafe-path"),
    "drive letter inside": (b"a/C:evil", "unsafe-path"),
    "network share": (b"//server/share/evil", "unsafe-path"),
    "backslashes that climb": (b"..\\..\\evil", "unsafe-path"),
    "network share with backslashes": (b"\\\\server\\share\\evil", "unsafe-path"),
    "reserved name": (b"a/NUL", "unsafe-path"),
    "reserved name with an ending": (b"com1.txt", "unsafe-path"),
    "trailing dot": (b"a./evil", "unsafe-path"),
    "trailing space": (b"evil ", "unsafe-path"),
    "control character": (b"a\nb", "unsafe-path"),
    "bidirectional override": ("a\u202ecod.exe".encode(), "unsafe-path"),
    "not Unicode": (b"a\xff\xfe", "unsafe-path"),
    "alternate stream": (b"SKILL.md:evil", "unsafe-path"),
    "git's own files": (b".git/config", "unsafe-path"),
    "name too long": (b"a" * 256, "unsafe-path"),
    "too deep": (b"a/" * 40 + b"b", "too-deep"),
    "nothing": (b".", "unsafe-path"),
    "nothing, at length": (b".//./", "unsafe-path"),
}


@pytest.mark.parametrize(("name", "code"), PATHS.values(), ids=list(PATHS))
def test_a_zip_with_an_unsafe_path_is_refused(name: bytes, code: str, tmp_path: Path) -> None:
    # The flag says UTF-8, so that a name which is not stays one that is not.
    assert code == code_of(
        raw_zip(
            Zipped(b"SKILL.md", DOCUMENT),
            Zipped(name, b"" if name.endswith(b"/") else b"x", flags=0x800),
        ),
        tmp_path,
    )


@pytest.mark.parametrize(("name", "code"), PATHS.values(), ids=list(PATHS))
def test_a_tar_with_an_unsafe_path_is_refused(name: bytes, code: str, tmp_path: Path) -> None:
    long = (Tarred(b"././@LongLink", name + b"\0", b"L"),) if len(name) > 100 else ()

    assert code == code_of(
        raw_tar(
            Tarred(b"SKILL.md", DOCUMENT), *long, Tarred(name, b"" if name.endswith(b"/") else b"x")
        ),
        tmp_path,
    )


def test_a_name_with_a_nul_is_refused_in_a_zip_and_in_an_extended_header(tmp_path: Path) -> None:
    zipped = raw_zip(Zipped(b"SKILL.md\0.png", b"x"))
    tarred = raw_tar(Tarred(b"h", pax(path="SKILL.md\0.png"), b"x"), Tarred(b"a", b"x"))

    assert ["unsafe-path", "unsafe-path"] == [code_of(zipped, tmp_path), code_of(tarred, tmp_path)]


@pytest.mark.parametrize("how", ["zip", "tar"])
def test_an_entry_for_the_top_itself_is_nothing_to_mind(how: str, tmp_path: Path) -> None:
    zipped = raw_zip(Zipped(b"./", mode=0o040755), Zipped(b"./SKILL.md", DOCUMENT))
    tarred = raw_tar(Tarred(b"./", kind=b"5"), Tarred(b"./SKILL.md", DOCUMENT))

    assert {"SKILL.md": DOCUMENT} == unpacked(zipped if how == "zip" else tarred, tmp_path)


def test_backslashes_of_a_zip_from_windows_are_separators_and_then_judged(tmp_path: Path) -> None:
    good = unpacked(raw_zip(Zipped(b"a\\b.txt", b"x", system=0, mode=0)), tmp_path)

    assert {"a/b.txt": b"x"} == good
    assert "unsafe-path" == code_of(
        raw_zip(Zipped(b"..\\b.txt", b"x", system=0, mode=0)), tmp_path / "other"
    )


LINKS = {
    "zip: symbolic link": raw_zip(Zipped(b"a", b"/etc/passwd", mode=0o120777)),
    "zip: symbolic link, made on DOS": raw_zip(Zipped(b"a", b"/etc", mode=0o120777, system=0)),
    "tar: symbolic link": raw_tar(Tarred(b"a", kind=b"2", aim=b"/etc/passwd")),
    "tar: link to inside": raw_tar(Tarred(b"b", b"x"), Tarred(b"a", kind=b"2", aim=b"b")),
    "tar: hard link": raw_tar(Tarred(b"b", b"x"), Tarred(b"a", kind=b"1", aim=b"b")),
    "tar: hard link outside": raw_tar(Tarred(b"a", kind=b"1", aim=b"/etc/passwd")),
    "tar: chain of links": raw_tar(
        Tarred(b"a", kind=b"2", aim=b"."),
        Tarred(b"b", kind=b"2", aim=b"a/.."),
        Tarred(b"c", kind=b"1", aim=b"b"),
    ),
}
OTHERS = {
    "character device": raw_tar(Tarred(b"a", kind=b"3")),
    "block device": raw_tar(Tarred(b"a", kind=b"4")),
    "pipe": raw_tar(Tarred(b"a", kind=b"6")),
    "socket in a zip": raw_zip(Zipped(b"a", mode=0o140644)),
    "device in a zip": raw_zip(Zipped(b"a", mode=0o020644)),
}


@pytest.mark.parametrize("data", LINKS.values(), ids=list(LINKS))
def test_a_link_is_refused(data: bytes, tmp_path: Path) -> None:
    assert "unsafe-link" == code_of(data, tmp_path)


@pytest.mark.parametrize("data", OTHERS.values(), ids=list(OTHERS))
def test_a_device_is_refused(data: bytes, tmp_path: Path) -> None:
    assert "unsafe-entry" == code_of(data, tmp_path)


def test_a_file_below_a_link_is_refused(tmp_path: Path) -> None:
    data = raw_tar(Tarred(b"a", kind=b"2", aim=b"/tmp"), Tarred(b"a/evil", b"x"))

    assert "collision" == code_of(data, tmp_path)


@pytest.mark.parametrize(
    "pair",
    [
        (b"a", b"a"),
        (b"README.md", b"readme.MD"),
        ("é".encode(), "e\u0301".encode()),
        (b"a", b"a/b"),
        (b"x/a", b"X/b"),
    ],
)
def test_entries_that_are_one_name_collide(pair: tuple[bytes, bytes], tmp_path: Path) -> None:
    one, other = pair

    codes = [
        code_of(raw_zip(Zipped(one, b"1"), Zipped(other, b"2")), tmp_path),
        code_of(raw_tar(Tarred(one, b"1"), Tarred(other, b"2")), tmp_path),
    ]

    assert ["collision", "collision"] == codes


# --- bombs


def test_a_zip_of_zeros_is_a_bomb(tmp_path: Path) -> None:
    assert "bomb" == code_of(honest_zip({"a": bytes(2 << 20)}), tmp_path)


def test_many_small_zeros_together_are_a_bomb(tmp_path: Path) -> None:
    assert "bomb" == code_of(honest_zip({f"{at}": bytes(1 << 20) for at in range(3)}), tmp_path)


@pytest.mark.parametrize("how", TARS[1:])
def test_a_squeezed_tar_of_zeros_is_a_bomb_long_before_it_is_unfolded(
    how: str, tmp_path: Path
) -> None:
    assert "bomb" == code_of(honest_tar({"a": bytes(64 << 20)}, how), tmp_path)


def test_a_bomb_that_announces_little_is_stopped_at_what_it_announced(tmp_path: Path) -> None:
    zeros = bytes(8 << 20)

    assert "malformed" == code_of(raw_zip(Zipped(b"a", zeros, said_size=10)), tmp_path)


def test_entries_that_share_their_bytes_are_refused(tmp_path: Path) -> None:
    kernel = Zipped(b"a", bytes(100_000))
    overlapping = [
        kernel,
        *(kernel._replace(name=b"%d" % at, said_offset=0, local_name=b"") for at in range(50)),
    ]

    assert "malformed" == code_of(raw_zip(*overlapping), tmp_path)


def test_two_entries_at_one_place_are_refused(tmp_path: Path) -> None:
    data = raw_zip(Zipped(b"a", b"x"), Zipped(b"a", b"x", said_offset=0))

    assert "malformed" == code_of(data, tmp_path)


def test_an_archive_in_an_archive_stays_a_file(tmp_path: Path) -> None:
    inner = honest_zip({"../evil": b"x", "a": bytes(4 << 20)})

    found = unpacked(honest_zip({"SKILL.md": DOCUMENT, "inner.zip": inner}), tmp_path)

    assert {"SKILL.md": DOCUMENT, "inner.zip": inner} == found


@pytest.mark.parametrize("how", ["zip", "tar"])
def test_a_hundred_thousand_entries_are_refused(how: str, tmp_path: Path) -> None:
    names = [b"d/%d" % at for at in range(100_000)]
    block = raw_tar(Tarred(b"d/x"), end=b"")
    data = (
        honest_zip({name.decode(): b"" for name in names})
        if how == "zip"
        else gzip.compress(block * 100_000 + bytes(1024), 1)
    )

    assert "too-many" == code_of(data, tmp_path, SupplySettings())


def test_more_bytes_than_allowed_are_refused(tmp_path: Path) -> None:
    noise = os.urandom(3 << 20)

    assert "too-large" == code_of(honest_zip({"a": noise}), tmp_path)
    assert "too-large" == code_of(honest_tar({"a": noise}), tmp_path)
    assert "too-large" == code_of(
        honest_zip({"a": noise, "b": noise}), tmp_path, SMALL._replace(file_bytes=4 << 20)
    )
    assert "too-large" == code_of(honest_tar({f"{at}": noise for at in range(4)}), tmp_path)


def test_an_archive_larger_than_a_download_may_be_is_refused(tmp_path: Path) -> None:
    assert "too-large" == code_of(
        honest_zip({"a": os.urandom(5000)}), tmp_path, SMALL._replace(download_bytes=4000)
    )


# --- lies


ZIP_LIES = {
    "fewer bytes than announced": raw_zip(Zipped(b"a", b"hello", said_size=500)),
    "more bytes than announced": raw_zip(Zipped(b"a", b"hello" * 100, said_size=5)),
    "wrong checksum": raw_zip(Zipped(b"a", b"hello", said_crc=1)),
    "another name in front": raw_zip(Zipped(b"a", b"hello", local_name=b"b")),
    "another size in front": raw_zip(Zipped(b"a", b"hello", local_size=4)),
    "another way of packing in front": raw_zip(Zipped(b"a", b"hello", local_method=0)),
    "packed bytes beyond the file": raw_zip(Zipped(b"a", b"hello", said_packed=1 << 30)),
    "place beyond the file": raw_zip(Zipped(b"a", b"hello", said_offset=1 << 30)),
    "place inside another entry": raw_zip(
        Zipped(b"a", b"hello"), Zipped(b"b", b"hello", said_offset=3)
    ),
    "encrypted": raw_zip(Zipped(b"a", b"hello", flags=1)),
    "unknown way of packing": raw_zip(Zipped(b"a", b"hello", method=99)),
    "broken stream": raw_zip(Zipped(b"a", b"hello", packed=b"\xff\xff\xff")),
    "stream that ends early": raw_zip(
        Zipped(b"a", b"hello" * 999, packed=zlib.compress(b"hello" * 999, wbits=-15)[:-9])
    ),
    "bytes after the stream": raw_zip(
        Zipped(b"a", b"hello", packed=zlib.compress(b"hello", wbits=-15) + b"more")
    ),
    "stored with two sizes": raw_zip(Zipped(b"a", b"hello", method=0, said_size=3)),
    "bytes before": raw_zip(Zipped(b"a", b"hello"), before=b"#!/bin/sh\n"),
    "bytes after": raw_zip(Zipped(b"a", b"hello"), after=b"more"),
    "bytes between": raw_zip(Zipped(b"a", b"hello"), Zipped(b"b", b"x"), between=b"hidden"),
    "an end inside the note": raw_zip(
        Zipped(b"a", b"hello"), note=struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 0, 0, 0, 0, 0)
    ),
    "more entries than listed": raw_zip(Zipped(b"a", b"hello"), count=2),
    "fewer entries than listed": raw_zip(Zipped(b"a", b"hello"), Zipped(b"b", b"x"), count=1),
    "folder with bytes": raw_zip(Zipped(b"a/", b"hello")),
    "broken extra field": raw_zip(Zipped(b"a", b"hello", extra=b"\x01\x00\xff\xff")),
    "long number that is missing": raw_zip(Zipped(b"a", b"hello", said_size=0xFFFFFFFF)),
}
TAR_LIES = {
    "wrong checksum": raw_tar(Tarred(b"a", b"x", checksum=b"000000\0 ")),
    "size that is no number": raw_tar(Tarred(b"a", b"x", size=b"99999999999\0")),
    "size below zero": raw_tar(Tarred(b"a", b"x", size=b"\xff" * 12)),
    "size beyond the file": raw_tar(Tarred(b"a", b"x", size=1 << 30)),
    "enormous size": raw_tar(Tarred(b"a", b"x", size=b"\x80" + b"\xff" * 11)),
    "sparse file": raw_tar(Tarred(b"a", b"x", kind=b"S")),
    "sparse file by extended header": raw_tar(Tarred(b"h", pax(GNU__sparse__map="0,1"), b"x"), Tarred(b"a", b"x")),
    "unknown kind": raw_tar(Tarred(b"a", b"x", kind=b"Z")),
    "volume label": raw_tar(Tarred(b"a", kind=b"V")),
    "two sizes": raw_tar(Tarred(b"h", pax(size="1024"), b"x"), Tarred(b"a", size=0), Tarred(b"evil", b"x")),
    "size in a header for all": raw_tar(Tarred(b"h", pax(size="1"), b"g"), Tarred(b"a", b"x")),
    "path in a header for all": raw_tar(Tarred(b"h", pax(path="evil"), b"g"), Tarred(b"a", b"x")),
    "broken extended header": raw_tar(Tarred(b"h", b"99 path=a\n", b"x"), Tarred(b"a", b"x")),
    "extended header without a length": raw_tar(Tarred(b"h", b"path=a\n", b"x"), Tarred(b"a", b"x")),
    "extended header of length nothing": raw_tar(Tarred(b"h", b"0 \n", b"x"), Tarred(b"a", b"x")),
    "extended header without an entry": raw_tar(Tarred(b"h", pax(path="a"), b"x")),
    "endless extended headers": raw_tar(*(Tarred(b"h", pax(path="a"), b"x") for _turn in range(40)), Tarred(b"a", b"x")),
    "enormous extended header": raw_tar(Tarred(b"h", bytes(2 << 20), b"x"), Tarred(b"a", b"x")),
    "link with bytes": raw_tar(Tarred(b"a", b"x", kind=b"1", aim=b"b")),
    "folder with bytes": raw_tar(Tarred(b"a", b"x", kind=b"5")),
    "no end": raw_tar(Tarred(b"a", b"x"), end=b""),
    "bytes after the end": raw_tar(Tarred(b"a", b"x")) + raw_tar(Tarred(b"../evil", b"x")),
    "wrong checksum of gzip": gzip.compress(raw_tar(Tarred(b"a", b"x")))[:-8] + bytes(8),
    "bytes after gzip": gzip.compress(raw_tar(Tarred(b"a", b"x"))) + b"more",
    "gzip of something else": gzip.compress(b"hello" * 1000),
    "gzip in gzip": gzip.compress(gzip.compress(raw_tar(Tarred(b"a", b"x")))),
    "broken xz": lzma.compress(raw_tar(Tarred(b"a", b"x")))[:-20] + bytes(20),
    "bytes after xz": lzma.compress(raw_tar(Tarred(b"a", b"x"))) + b"more",
    "padding of xz that is none": lzma.compress(raw_tar(Tarred(b"a", b"x"))) + bytes(3),
    "xz that wants too much memory": lzma.compress(raw_tar(Tarred(b"a", b"x")), filters=[{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 512 << 20}]),
    "neither": b"hello",
    "empty": b"",
}  # fmt: skip


@pytest.mark.parametrize("data", ZIP_LIES.values(), ids=list(ZIP_LIES))
def test_a_zip_that_lies_is_malformed(data: bytes, tmp_path: Path) -> None:
    assert "malformed" == code_of(data, tmp_path)


@pytest.mark.parametrize("data", TAR_LIES.values(), ids=list(TAR_LIES))
def test_a_tar_that_lies_is_malformed(data: bytes, tmp_path: Path) -> None:
    assert "malformed" == code_of(data, tmp_path)


def test_an_archive_that_is_not_a_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    codes = []
    for name in ("pipe", "", "absent"):
        with pytest.raises(MetierError) as caught:
            ArchiveFetcher(SMALL).open(Request("archive", str(tmp_path / name)))
        codes.append(caught.value.code)

    assert ["malformed", "malformed", "not-found"] == codes


def test_an_archive_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.zip"
    file.write_bytes(honest_zip({"a": b"one"}))
    tree = ArchiveFetcher(SMALL).open(Request("archive", str(file)))
    items = tree.items()
    os.utime(file, ns=(1, 1))

    with pytest.raises(MetierError) as caught:
        [b"".join(chunks) for _item, chunks in tree.contents(items)]

    assert "digest" == caught.value.code
    tree.close()


def test_zstd_without_its_package_says_what_to_install(tmp_path: Path) -> None:
    try:
        import zstandard  # noqa: F401
    except ImportError:
        assert "zstd-missing" == code_of(b"\x28\xb5\x2f\xfd" + bytes(100), tmp_path)
    else:
        assert "malformed" == code_of(b"\x28\xb5\x2f\xfd" + bytes(100), tmp_path)


@pytest.mark.skipif("zst" not in TARS, reason="zstd needs its package")
@pytest.mark.parametrize("log", [28, 31, 41])
def test_zstd_that_wants_more_memory_than_is_given_is_refused(log: int, tmp_path: Path) -> None:
    plain = honest_tar({"SKILL.md": DOCUMENT}, "")
    blocks = (len(plain) << 3 | 1).to_bytes(3, "little") + plain

    assert "malformed" == code_of(
        b"\x28\xb5\x2f\xfd" + bytes([0, log - 10 << 3]) + blocks, tmp_path
    )
    assert {"SKILL.md": DOCUMENT} == unpacked(
        b"\x28\xb5\x2f\xfd" + bytes([0, 27 - 10 << 3]) + blocks, tmp_path
    )


@pytest.mark.skipif("zst" not in TARS, reason="zstd needs its package")
@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[:-1],
        lambda data: data[: len(data) // 2],
        lambda data: data + b"more",
        lambda data: data[:-1] + b"?",
    ],
)
def test_zstd_that_is_cut_off_or_goes_on_is_malformed(
    change: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    assert "malformed" == code_of(change(honest_tar({"SKILL.md": DOCUMENT}, "zst")), tmp_path)


def test_xz_that_wants_more_memory_than_is_given_is_refused(tmp_path: Path) -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 128 << 20}]

    assert "malformed" == code_of(
        lzma.compress(honest_tar({"SKILL.md": DOCUMENT}, ""), filters=filters), tmp_path
    )
