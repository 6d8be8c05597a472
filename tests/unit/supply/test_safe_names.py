from __future__ import annotations

import pytest

from metier.errors import RefusedError
from metier.settings.model import SupplySettings
from metier.supply.model import Item
from metier.supply.safe_names import check_items, printable, safe_name, safe_path


def items(*paths: str) -> list[Item]:
    return [Item(path, 1, "file", str(at)) for at, path in enumerate(paths)]


def code_of(*paths: str, limits: SupplySettings | None = None) -> str:
    with pytest.raises(RefusedError) as caught:
        check_items(items(*paths), limits or SupplySettings())
    return caught.value.code


@pytest.mark.parametrize(
    ("written", "clean"),
    [
        ("a/b", "a/b"),
        ("./a//b", "a/b"),
        ("a/./b", "a/b"),
        ("ü/ñ.md", "ü/ñ.md"),
        (".hidden/x", ".hidden/x"),
        ("a b.txt", "a b.txt"),
        ("console.md", "console.md"),
        ("com10", "com10"),
        ("a" * 255, "a" * 255),
    ],
)
def test_a_harmless_path_is_written_in_one_way(written: str, clean: str) -> None:
    found = safe_path(written)

    assert clean == found


@pytest.mark.parametrize(
    "path",
    [
        "..",
        "../x",
        "a/../b",
        "a/../../x",
        "/etc/passwd",
        "//server/share",
        "C:/x",
        "c:x",
        "a/C:/x",
        "\\\\server\\share",
        "\\x",
        "a\\..\\..\\x",
        "a\\b",
        "",
        ".",
        "./",
        "/",
        "a\0b",
        "a\nb",
        "a\x7fb",
        "a\u202eb",
        "a\u200bb",
        "a\ufeff",
        "a\udc80",
        "a\u2028b",
        "CON",
        "con.txt",
        "a/NUL",
        "nul.tar.gz",
        "COM1",
        "com1.txt",
        "LPT9.md",
        "COM\u00b9",
        "aux .txt",
        "conin$",
        "a.",
        "a ",
        "a./b",
        "a /b",
        "...",
        "a" * 256,
        "é" * 128,
        "a/" * 3000 + "b",
        "f:stream",
        "SKILL.md::$DATA",
        ".git/config",
        "a/.GIT/hooks/x",
        "GIT~1/config",
    ],
)
def test_a_path_that_could_mean_another_place_is_refused(path: str) -> None:
    with pytest.raises(RefusedError) as caught:
        safe_path(path)

    assert "unsafe-path" == caught.value.code
    assert caught.value.message.isprintable()


def test_a_path_of_too_many_folders_is_refused() -> None:
    assert "a" == safe_path("./" * 100 + "a")
    assert "too-deep" == code_of("/".join("a" * 33))


@pytest.mark.parametrize(
    "paths",
    [
        ("a", "a"),
        ("a", "./a"),
        ("a", "A"),
        ("A/x", "a/y"),
        ("é", "e\u0301"),
        ("ﬁ", "fi"),
        ("straße", "STRASSE"),
        ("a", "a/b"),
        ("a/b", "a"),
        ("a/b", "A"),
        ("x", "\uff58"),
        ("İ", "i̇"),
    ],
)
def test_entries_that_are_one_name_on_some_disk_collide(paths: tuple[str, ...]) -> None:
    assert "collision" == code_of(*paths)


def test_folders_are_dropped_but_still_collide() -> None:
    found = check_items(items("a/", "a/b", "a/", "c/"), SupplySettings())

    assert ["a/b"] == [item.path for item in found]
    assert "collision" == code_of("a/", "A/x")
    assert "collision" == code_of("a", "a/")
    assert "unsafe-path" == code_of("../")


def test_links_and_devices_stay_for_others_to_judge_and_keys_are_kept() -> None:
    link, pipe = Item("./a", 0, "link", "7"), Item("b", 0, "other")

    found = check_items([link, pipe], SupplySettings())

    assert (Item("a", 0, "link", "7"), pipe) == found


def test_more_entries_than_allowed_are_refused() -> None:
    assert "too-many" == code_of("a", "b", "c", limits=SupplySettings(files=2))


@pytest.mark.parametrize("name", ["pdf", "my-skill", "Ünïcode", "a.b"])
def test_a_name_of_one_folder_is_kept(name: str) -> None:
    assert name == safe_name(name)


# HE-40, HE-42
@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "a/b",
        "a\\b",
        "/",
        ".hidden",
        "~",
        "-rf",
        "CON",
        "a\0",
        "a\n",
        "a.",
        "a ",
        "C:",
        "a" * 256,
        "a\u202e",
    ],
)
def test_a_name_that_is_another_place_is_refused(name: str) -> None:
    with pytest.raises(RefusedError) as caught:
        safe_name(name)

    assert "unsafe-path" == caught.value.code


def test_a_stranger_s_text_is_shown_short_and_plain() -> None:
    assert "a\\u001b[31m\\u202e" == printable("a\x1b[31m\u202e")
    assert 80 == len(printable("x" * 10_000))
