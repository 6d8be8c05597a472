from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from metier.errors import MetierError
from metier.settings.model import SupplySettings
from metier.supply.io.folder import FolderFetcher, FolderTree
from metier.supply.model import Item, Request

if TYPE_CHECKING:
    from pathlib import Path


def written(folder: Path, **files: bytes) -> Path:
    for name, data in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def test_a_folder_is_listed_without_its_repository(tmp_path: Path) -> None:
    folder = written(tmp_path / "f", SKILL=b"hello", a__b=b"x", a__c=b"yz")
    written(folder / ".git", config=b"x")
    os.chmod(folder / "a/b", 0o700)

    tree = FolderFetcher(SupplySettings()).open(Request("folder", str(folder)))
    items = tree.items()
    found = {item.path: b"".join(chunks) for item, chunks in tree.contents(items)}
    tree.close()

    assert [Item("SKILL", 5, "file"), Item("a/b", 1, "exec"), Item("a/c", 2, "file")] == items
    assert {"SKILL": b"hello", "a/b": b"x", "a/c": b"yz"} == found
    assert str(folder) == tree.origin.source


def test_only_what_lies_below_the_path_asked_for_is_listed(tmp_path: Path) -> None:
    folder = written(tmp_path / "f", a__b=b"x", c__d=b"y")

    tree = FolderFetcher(SupplySettings()).open(Request("folder", str(folder), path="c"))

    assert ["c/d"] == [item.path for item in tree.items()]
    tree.close()


def test_links_and_pipes_are_listed_as_what_they_are_and_never_opened(tmp_path: Path) -> None:
    folder = written(tmp_path / "f", a=b"x")
    os.symlink("/etc", folder / "link")
    os.mkfifo(folder / "pipe")

    tree = FolderFetcher(SupplySettings()).open(Request("folder", str(folder)))
    items = tree.items()
    codes = []
    for item in items[1:]:
        with pytest.raises(MetierError) as caught:
            next(tree.contents([item]))
        codes.append(caught.value.code)
    tree.close()

    assert [("a", "file"), ("link", "link"), ("pipe", "other")] == [
        (item.path, item.mode) for item in items
    ]
    assert ["source", "unsafe-entry"] == codes


def test_a_folder_that_becomes_a_link_meanwhile_is_not_followed(tmp_path: Path) -> None:
    folder, secret = written(tmp_path / "f", d__a=b"x"), written(tmp_path / "secret", a=b"key")
    tree = FolderFetcher(SupplySettings()).open(Request("folder", str(folder)))
    items = tree.items()
    os.rename(folder / "d", folder / "e")
    os.symlink(secret, folder / "d")

    with pytest.raises(MetierError) as caught:
        next(tree.contents(items))

    assert "source" == caught.value.code
    tree.close()


def test_a_file_that_grows_gives_one_byte_too_many_and_no_more(tmp_path: Path) -> None:
    folder = written(tmp_path / "f", a=b"x")
    tree = FolderFetcher(SupplySettings()).open(Request("folder", str(folder)))
    items = tree.items()
    (folder / "a").write_bytes(bytes(1 << 20))

    found = [b"".join(chunks) for _item, chunks in tree.contents(items)]

    assert [bytes(2)] == found
    tree.close()


def test_a_folder_of_too_much_is_refused_and_one_that_is_absent_not_found(tmp_path: Path) -> None:
    folder = written(tmp_path / "f", a=b"x", b=b"x", c=b"x")
    deep = tmp_path / "deep"
    os.makedirs(str(deep) + "/d" * 40)

    codes = []
    for place in (folder, deep, tmp_path / "absent"):
        with pytest.raises(MetierError) as caught:
            FolderFetcher(SupplySettings(files=2)).open(Request("folder", str(place))).items()
        codes.append(caught.value.code)

    assert ["too-many", "too-deep", "not-found"] == codes


def test_a_folder_that_is_gone_when_it_is_opened_is_an_error_of_the_source(tmp_path: Path) -> None:
    with pytest.raises(MetierError) as caught:
        FolderTree(str(tmp_path / "gone"), "", SupplySettings(), "gone")

    assert "source" == caught.value.code
