"""`--file` in every spelling that could leave a skill: refused, and nothing of the target is told."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from doors.command import run

import metier
from metier.errors import MetierError, NotFoundError, RefusedError
from metier.model import File

if TYPE_CHECKING:
    from conftest import Home, Writer

    from metier.library import Library

SECRET = "the secret outside"


@pytest.fixture
def library(tmp_path: Path, home: Home, skill: Writer) -> Library:
    fine = skill("root/fine")
    skill("root/other")
    (tmp_path / "root" / "secret.md").write_text(SECRET)
    (tmp_path / "root" / "fine-too").mkdir()
    (tmp_path / "root" / "fine-too" / "secret.md").write_text(SECRET)
    (fine / "references").mkdir()
    (fine / "references" / "guide.md").write_text("the guide")
    (fine / "references" / "out.md").symlink_to("../../secret.md")
    (fine / "references" / "absolute.md").symlink_to(tmp_path / "root" / "secret.md")
    (fine / "references" / "far").symlink_to("../..")
    (fine / "references" / "near").symlink_to("../../fine-too")
    (fine / "references" / "inside.md").symlink_to("guide.md")
    (fine / "references" / "chain.md").symlink_to("out.md")
    (fine / "references" / "loop.md").symlink_to("loop.md")
    (fine / "references" / "null").symlink_to("/dev/null")
    (fine / "references" / "proc").symlink_to("/proc/self")
    os.mkfifo(fine / "references" / "pipe")
    return metier.open(roots=[str(tmp_path / "root")], env=home.env)


TRAVERSALS = (
    "..",
    "../secret.md",
    "../../secret.md",
    "references/../../secret.md",
    "references/../../../secret.md",
    "./../secret.md",
    "references/..",
    "references//../..//secret.md",
    "..\\secret.md",
    "references\\..\\..\\secret.md",
    "..\\/secret.md",
    "../other/SKILL.md",
    "/etc/passwd",
    "//etc/passwd",
    "\\etc\\passwd",
    "\\\\server\\share",
    "C:\\secret.md",
    "C:/secret.md",
    "c:secret.md",
    "~/secret.md",
    "~root/secret.md",
    "~",
    "",
    ".",
    "./",
    "/",
    "//",
    "\\",
    "references/guide.md\0",
    "\0",
    "../secret.md\0.md",
    "references/\0/../..",
    "references/../references/../../secret.md",
    "...//...//secret.md/../../..",
)


@pytest.mark.parametrize("path", TRAVERSALS)
def test_a_path_that_could_leave_the_skill_is_refused(path: str, library: Library) -> None:  # HE-9
    with pytest.raises(RefusedError) as caught:
        library.view("fine", path)

    assert "path-traversal" == caught.value.code
    assert SECRET not in str(caught.value.as_dict())


@pytest.mark.parametrize(
    "name",
    [
        "out.md",
        "absolute.md",
        "far/secret.md",
        "near/secret.md",
        "chain.md",
        "null",
        "proc/environ",
        "far/fine-too/secret.md",
    ],
)
def test_a_link_that_leaves_the_skill_is_refused(name: str, library: Library) -> None:
    with pytest.raises(RefusedError) as caught:
        library.view("fine", f"references/{name}")

    assert "path-traversal" == caught.value.code
    assert SECRET not in str(caught.value.as_dict())


@pytest.mark.parametrize(
    "path",
    [
        "%2e%2e/secret.md",
        "..%2fsecret.md",
        "references/%00",
        "\u2025/secret.md",
        "\uff0e\uff0e/secret.md",
        "references/loop.md",
        "references/pipe",
        "references",
        "references/missing.md",
        "SKILL.md/x",
        "x" * 300,
        "x/" * 3_000,
        "fine",
        "\udcff",
        "references/ guide.md",
        "REFERENCES/GUIDE.MD",
        "-",
        "--",
        "*",
        "references/*",
    ],
)
def test_a_path_that_names_no_file_of_the_skill_is_not_found(path: str, library: Library) -> None:
    with pytest.raises((NotFoundError, RefusedError)) as caught:
        library.view("fine", path)

    assert SECRET not in str(caught.value.as_dict())


@pytest.mark.parametrize(
    "path",
    [
        "references/guide.md",
        "./references/guide.md",
        "references//guide.md",
        "references\\guide.md",
        "references/inside.md",
    ],
)
def test_an_honest_spelling_is_shown(path: str, library: Library, tmp_path: Path) -> None:
    # A skill full of links that lead out is not shown before somebody has answered for it, and nobody can for a pipe.
    (tmp_path / "root" / "fine" / "references" / "pipe").unlink()
    library.trust(
        "fine", "approve", reason="Its links are refused one by one.", accept_dangerous=True
    )

    shown = library.view("fine", path)

    assert isinstance(shown, File)
    assert "the guide" == shown.content


@pytest.mark.parametrize(
    "words",
    [
        ("--file", "../secret.md"),
        ("--file=../secret.md",),
        ("--file", "/etc/passwd"),
        ("--file", "references/out.md"),
    ],
)
def test_the_command_line_refuses_with_a_hint(
    words: tuple[str, ...], library: Library, tmp_path: Path, home: Home
) -> None:
    root = str(tmp_path / "root")

    answer = run(home.env, "show", "fine", *words, "--root", root)
    as_json = run(home.env, "show", "fine", *words, "--json", "--root", root)

    assert 1 == answer.code
    assert answer.err.startswith("error: ")
    assert "hint: " in answer.err
    assert SECRET not in answer.out + answer.err + as_json.out
    assert ("path-traversal", 1) == (as_json.json["code"], as_json.code)
    assert library is not None


def test_a_missing_file_gives_the_files_there_are_by_type(library: Library) -> None:  # HE-17
    with pytest.raises(NotFoundError) as caught:
        library.view("fine", "references/missing.md")

    available = caught.value.as_dict()["available_files"]
    assert isinstance(available, dict)
    assert "references/guide.md" in available["references"]


@pytest.mark.parametrize(
    "name",
    [
        "../root/fine",
        "fine/../other",
        "/",
        "..",
        ".",
        "",
        "\0",
        "fine\0",
        "a/b/c",
        "x" * 5_000,
        "\udcff",
        ":",
        "user:",
        "*",
    ],
)
def test_a_name_made_of_nonsense_is_an_error_and_no_crash(
    name: str, library: Library, tmp_path: Path
) -> None:
    try:
        card = library.resolve(name)
    except MetierError:
        return

    assert card.path.startswith(str(tmp_path / "root"))


def test_a_linked_skill_folder_shows_its_own_files(
    library: Library, tmp_path: Path, home: Home, skill: Writer
) -> None:
    skill("store/linked")
    (tmp_path / "store" / "linked" / "guide.md").write_text("the guide")
    (tmp_path / "root" / "linked").symlink_to(tmp_path / "store" / "linked")
    assert library is not None

    shown = metier.open(roots=[str(tmp_path / "root")], env=home.env).view("linked", "guide.md")

    assert isinstance(shown, File)
    assert "the guide" == shown.content


@pytest.mark.parametrize(
    "name",
    [
        "../evil",
        "a/b",
        "/tmp/evil",
        "..",
        "",
        ".",
        "a\0b",
        "-x",
        "x" * 65,
        "UPPER",
        "a\nb",
        "con\x1b[31m",
        "~",
        "a\\b",
    ],
)
def test_a_new_skill_is_never_written_outside_its_place(
    name: str, tmp_path: Path, home: Home
) -> None:
    (tmp_path / "project").mkdir()

    with pytest.raises(MetierError):
        metier.open(env=home.env, cwd=tmp_path / "project").new(name)

    assert [] == list((tmp_path / "project").iterdir())
