"""Archives: the same bytes every time, and ones that every other reader takes."""

from __future__ import annotations

import hashlib
import io
import tarfile
import zlib

from hypothesis import given, strategies as st

from metier.settings.model import SupplySettings
from metier.standard.digest import TreeFile, tree_digest
from metier.supply.archives import compression, read_tar
from metier.supply.archives.write_tar import PackFile, pack_tar_gz

FILES = (
    PackFile("scripts/run.sh", b"#!/bin/sh\n", executable=True),
    PackFile("SKILL.md", b"---\nname: a\n---\n"),
    PackFile("empty", b""),
)
LONG = "references/" + "a-long-folder/" * 10 + "page.md"
ODD = (
    "références/é.md",
    LONG,
    "x" * 150,
    "f/" + "y" * 100,
    "d" * 155 + "/" + "n" * 100,
    "d" * 156 + "/n",
    "z" * 254 + "/" + "é" * 100,
)


def read_back(data: bytes) -> dict[str, tuple[bytes, bool]]:
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
        found = [(member, archive.extractfile(member)) for member in archive.getmembers()]
        return {
            member.name: (file.read(), member.mode == 0o755)
            for member, file in found
            if file is not None
        }


def test_an_archive_is_one_that_another_reader_takes() -> None:
    found = read_back(pack_tar_gz(FILES))

    assert {file.path: (file.data, file.executable) for file in FILES} == found


def test_the_same_files_in_any_order_are_the_same_bytes() -> None:
    data = pack_tar_gz(FILES)

    assert data == pack_tar_gz(FILES[::-1])
    assert data == pack_tar_gz(
        [PackFile(file.path, bytes(bytearray(file.data)), file.executable) for file in FILES]
    )


def test_an_archive_holds_no_time_no_owner_and_no_name() -> None:
    data = pack_tar_gz(FILES)

    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
        members = archive.getmembers()

    assert b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff" == data[:10]
    assert ["SKILL.md", "empty", "scripts/run.sh"] == [member.name for member in members]
    assert {(0, 0, 0, "", "")} == {
        (member.mtime, member.uid, member.gid, member.uname, member.gname) for member in members
    }
    assert {0o644, 0o755} == {member.mode for member in members}
    assert all(member.isreg() for member in members)


def test_long_and_foreign_names_are_read_back() -> None:
    files = [PackFile(path, path.encode()) for path in ODD]

    found = read_back(pack_tar_gz(files))

    assert {path: (path.encode(), False) for path in ODD} == found


def test_what_is_larger_than_a_block_is_whole() -> None:
    data = pack_tar_gz([PackFile("SKILL.md", b"ab" * 200_000)])

    assert (b"ab" * 200_000, False) == read_back(data)["SKILL.md"]
    assert zlib.decompress(data, wbits=31).endswith(bytes(1024))


# The bytes are fixed: a change of any of them is a change of every digest that was ever published.
def test_the_form_of_an_archive_never_changes() -> None:
    assert (
        "5f8a75cebdbfd0eefff81ad794247efe3953616c2641d08c584ade20b3f0cd11"
        == hashlib.sha256(pack_tar_gz(FILES)).hexdigest()
    )


def digest_of(files: list[tuple[str, bytes, bool]]) -> str:
    return tree_digest(
        TreeFile(path, len(data), hashlib.sha256(data).digest(), executable)
        for path, data, executable in files
    )


LETTERS = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="/\\")
NAMES = st.text(LETTERS, min_size=1, max_size=60).filter(lambda name: name not in {".", ".."})


@given(
    st.dictionaries(
        NAMES, st.tuples(st.binary(max_size=1500), st.booleans()), min_size=1, max_size=5
    )
)
def test_metiers_own_reader_finds_the_same_tree(files: dict[str, tuple[bytes, bool]]) -> None:
    wanted = [(f"skill/{path}", *rest) for path, rest in files.items()]

    data = pack_tar_gz([PackFile(*one) for one in wanted])

    limits = SupplySettings()
    found = [
        (entry.path, feed.take(entry.size), entry.mode == "exec")
        for entry, feed in read_tar.tar_entries(
            compression.decompress("gzip", iter([data]), limits), limits
        )
    ]
    assert digest_of(wanted) == digest_of(found)
