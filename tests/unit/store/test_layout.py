"""Where things lie in the store, and when a manifest is believed."""

from __future__ import annotations

import hashlib

import pytest

from metier.errors import IntegrityError, NotFoundError, RefusedError
from metier.standard.digest import TreeFile, tree_digest
from metier.store import layout

EMPTY = hashlib.sha256(b"").digest()
DIGEST = "sha256:" + "ab" + "c" * 62


def file(path: str, mode: bool | str = "") -> TreeFile:
    return TreeFile(path, 0, EMPTY, mode or False)


def test_blobs_trees_and_origins_are_fanned_out_by_the_first_two_digits() -> None:
    sha256 = bytes.fromhex("ab" + "c" * 62)

    paths = layout.blob_path(sha256), layout.tree_path(DIGEST), layout.origin_path(DIGEST)

    assert (
        "blobs/ab/" + "c" * 62,
        f"trees/ab/{'c' * 62}.json",
        f"origins/ab/{'c' * 62}.json",
    ) == paths


def test_a_place_gives_its_digest_back_and_nothing_else_does() -> None:
    found = [
        layout.digest_at(*place)
        for place in [
            ("ab", "c" * 62 + ".json"),
            ("ab", "c" * 62),
            ("zz", "c" * 62 + ".json"),
            ("a", "x"),
        ]
    ]

    assert [DIGEST, None, None, None] == found


@pytest.mark.parametrize(
    "word",
    [
        "",
        "sha256:",
        "sha256:" + "A" * 64,
        "md5:" + "a" * 64,
        "sha256:" + "a" * 64 + "\n",
        "../../etc/passwd",
    ],
)
def test_what_is_no_digest_is_not_in_the_store(word: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        layout.tree_path(word)

    assert "not-in-store" == caught.value.code


def test_a_manifest_gives_its_files_back_links_and_odd_names_included() -> None:
    files = (file("SKILL.md"), file("a/run", True), file("b\udcff", "link"), file('ü\n"'))

    found = layout.read_manifest(layout.write_manifest(reversed(files)), tree_digest(files))

    assert sorted(files) == sorted(found)


def test_a_manifest_under_another_name_is_damaged() -> None:
    data = layout.write_manifest([file("SKILL.md")])

    with pytest.raises(IntegrityError) as caught:
        layout.read_manifest(data, tree_digest([file("OTHER.md")]))

    assert "store-damaged" == caught.value.code


@pytest.mark.parametrize(
    ("files", "code"),
    [
        (["/etc/passwd"], "unsafe-path"),
        (["../x"], "unsafe-path"),
        (["a/../b"], "unsafe-path"),
        ([""], "unsafe-path"),
        (["a//b"], "unsafe-path"),
        (["a/./b"], "unsafe-path"),
        (["a\0b"], "unsafe-path"),
        (["\ud800"], "unsafe-path"),
        (["a", "a"], "collision"),
        (["a", "a/b"], "collision"),
        (["a/" * 200 + "b"], "too-deep"),
        ([str(number) for number in range(layout.MAX_TREE_FILES)], "too-many"),
    ],
)
def test_a_tree_that_cannot_be_laid_out_below_a_folder_is_refused(
    files: list[str], code: str
) -> None:
    with pytest.raises(RefusedError) as caught:
        layout.check_tree([file(path) for path in files])

    assert code == caught.value.code


def test_only_the_newest_origins_are_remembered() -> None:
    wheres = [(f"source {number}", "", "") for number in range(layout.MAX_ORIGINS + 5)]

    found = layout.read_origins(layout.write_origins(wheres))

    assert tuple(wheres[5:]) == found
