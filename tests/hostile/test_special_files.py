"""A SKILL.md that is no file, no text, or far too much: a row with a code, never a hang, a crash or a gigabyte."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from doors.command import python, run

import metier
from metier.errors import MetierError

if TYPE_CHECKING:
    from conftest import Home, Writer

    from metier.library import Library
    from metier.model import Card

MEGABYTE = 1 << 20
GOOD = b"---\nname: big\ndescription: Big on purpose.\n---\n"


def opened(home: Home, root: Path) -> Library:
    return metier.open(roots=[str(root)], env=home.env)


def card_at(library: Library, folder: Path) -> Card:
    return next(card for card in library.skills(all=True) if card.path == str(folder))


def fifo(path: Path) -> None:
    os.mkfifo(path)


def socket(path: Path) -> None:
    os.mknod(path, stat.S_IFSOCK | 0o600)


def link_to_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def link_to_file(path: Path) -> None:
    target = path.parent.parent.parent / "elsewhere.md"
    target.write_bytes(GOOD)
    path.symlink_to(target)


def link_to_nothing(path: Path) -> None:
    path.symlink_to("nowhere")


def link_to_itself(path: Path) -> None:
    path.symlink_to(path.name)


def folder(path: Path) -> None:
    path.mkdir()


STRANGE = (fifo, socket, link_to_device, link_to_file, link_to_nothing, link_to_itself, folder)


@pytest.mark.parametrize("make", STRANGE, ids=lambda make: make.__name__)
@pytest.mark.parametrize("name", ["SKILL.md", "skill.md"])
def test_what_is_no_regular_file_is_an_invalid_row_and_the_others_are_listed(
    make: Callable[[Path], None], name: str, tmp_path: Path, home: Home, skill: Writer
) -> None:  # CX-26
    skill("root/fine")
    odd = tmp_path / "root" / "odd"
    odd.mkdir()
    make(odd / name)

    library = opened(home, tmp_path / "root")

    assert ["fine"] == [card.name for card in library.skills()]
    if name == "SKILL.md":
        # A *folder* called SKILL.md is a skill gone wrong as well: "nothing is ever silently absent".
        card = card_at(library, odd)
        assert "invalid" == card.state
        assert ["SK003"] == [note.code for note in card.diagnostics]


@pytest.mark.parametrize("make", STRANGE, ids=lambda make: make.__name__)
def test_what_is_no_regular_file_can_be_neither_shown_nor_checked(
    make: Callable[[Path], None], tmp_path: Path, home: Home
) -> None:
    odd = tmp_path / "root" / "odd"
    odd.mkdir(parents=True)
    make(odd / "SKILL.md")

    shown = run(home.env, "show", "odd", "--root", str(tmp_path / "root"))
    checked = run(home.env, "check", str(odd), "--json")

    assert 1 == shown.code
    assert shown.err.startswith("error: ")
    assert 1 == checked.code
    assert {"SK001", "SK003"} & {note["code"] for note in checked.json["skills"][0]["diagnostics"]}


def test_a_file_of_nuls_is_invalid_and_not_shown_as_text(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    odd = skill("root/odd")
    (odd / "SKILL.md").write_bytes(bytes(100_000))

    card = card_at(opened(home, tmp_path / "root"), odd)

    assert ("invalid", ["SK006"]) == (card.state, [note.code for note in card.diagnostics])


def test_nuls_inside_the_frontmatter_are_found_with_their_place(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    odd = skill("root/odd")
    (odd / "SKILL.md").write_bytes(b"---\nname: odd\ndescription: a\0b\n---\n")

    card = card_at(opened(home, tmp_path / "root"), odd)

    assert "invalid" == card.state
    assert [("SK006", 3, 15)] == [(note.code, note.line, note.column) for note in card.diagnostics]


def test_bytes_that_are_no_utf_8_in_the_frontmatter_are_diagnosed_at_their_place(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    odd = skill("root/odd")
    (odd / "SKILL.md").write_bytes(b"---\nname: odd\ndescription: caf\xe9 au lait\n---\nBody.\n")

    card = card_at(opened(home, tmp_path / "root"), odd)

    assert [("SK005", 3, 17)] == [(note.code, note.line, note.column) for note in card.diagnostics]
    assert "caf\ufffd au lait" == card.description


def test_bytes_that_are_no_utf_8_in_the_body_are_found_by_a_check(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    odd = skill("root/odd")
    (odd / "SKILL.md").write_bytes(b"---\nname: odd\ndescription: Fine.\n---\n\nBody \xff.\n")

    (checked,) = opened(home, tmp_path / "root").check([str(odd)])

    assert not checked.ok
    assert [("SK005", 6, 6)] == [
        (note.code, note.line, note.column) for note in checked.diagnostics
    ]


@pytest.mark.parametrize("padding", [0, 6_000], ids=["short head", "head of more than one block"])
def test_a_body_of_a_hundred_megabytes_costs_a_diagnostic_and_no_memory(
    padding: int, tmp_path: Path, home: Home, skill: Writer
) -> None:
    big = skill("root/big", text=f"---\nname: big\ndescription: Big.\nnote: {'x' * padding}\n---\n")
    os.truncate(big / "SKILL.md", 100 * MEGABYTE)

    listed = run(
        home.env, "list", "--all", "--json", "--root", str(tmp_path / "root"), memory=400 * MEGABYTE
    )
    shown = run(home.env, "show", "big", "--root", str(tmp_path / "root"), memory=400 * MEGABYTE)
    checked = run(home.env, "check", str(big), "--json", memory=400 * MEGABYTE)

    (row,) = listed.json["skills"]
    assert (0, "big", "Big.") == (listed.code, row["name"], row["description"])
    assert "SK007" in [note["code"] for note in row["diagnostics"]]
    assert 1 == shown.code
    assert "104,857,600 bytes" in shown.err
    assert 1 == checked.code
    assert "SK007" in [note["code"] for note in checked.json["skills"][0]["diagnostics"]]


def test_the_digest_of_a_hundred_megabytes_needs_no_memory(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    big = skill("root/big")
    (big / "blob.bin").touch()
    os.truncate(big / "blob.bin", 100 * MEGABYTE)

    listed = run(
        home.env,
        "list",
        "--digests",
        "--json",
        "--root",
        str(tmp_path / "root"),
        memory=200 * MEGABYTE,
    )

    assert listed.json["skills"][0]["digest"].startswith("sha256:")


def test_a_file_of_a_hundred_megabytes_is_described_and_not_read(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    big = skill("root/big")
    (big / "assets").mkdir()
    (big / "assets" / "blob.txt").touch()
    os.truncate(big / "assets" / "blob.txt", 100 * MEGABYTE)
    root = str(tmp_path / "root")

    # What is too large to be looked at is a reason to look, and says so; it is no behaviour.
    judged = run(home.env, "scan", "--json", str(big), memory=200 * MEGABYTE)
    shown = run(
        home.env,
        "show",
        "big",
        "--file",
        "assets/blob.txt",
        "--json",
        "--root",
        root,
        memory=200 * MEGABYTE,
    )

    assert "caution" == judged.json["skills"][0]["level"]
    assert (True, 100 * MEGABYTE) == (shown.json["is_binary"], shown.json["size"])


def test_frontmatter_that_never_closes_is_read_no_further_than_its_limit(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    odd = skill("root/odd", text="---\nname: odd\n" + "key: value\n" * 30_000)

    card = card_at(opened(home, tmp_path / "root"), odd)

    assert "invalid" == card.state
    assert {"SK007", "SK011"} == {note.code for note in card.diagnostics}


def test_frontmatter_with_nothing_in_it_is_diagnosed_however_it_is_written(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    texts = (
        "---\n---\nBody.\n",
        "---\r\n---\r\nBody.\r\n",
        "---\n\n---\nBody.\n",
        "---\n  \n---\nBody.\n",
        "---\n# note\n---\nBody.\n",
    )
    folders = [skill(f"root/empty-{at}", text=text) for at, text in enumerate(texts)]

    library = opened(home, tmp_path / "root")

    # Without name and description none of these is a skill that nothing is wrong with.
    assert ["hidden"] * len(texts) == [card_at(library, folder).state for folder in folders]
    assert [] == [folder.name for folder in folders if not card_at(library, folder).diagnostics]


def test_a_frontmatter_after_many_blank_lines_is_found_in_a_list_as_in_a_check(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    late = skill(
        "root/late", text="\n" * 5_000 + "---\nname: late\ndescription: Late.\n---\nBody.\n"
    )
    library = opened(home, tmp_path / "root")

    listed = card_at(library, late)
    (checked,) = library.check([str(late)])

    assert ["SK014"] == [note.code for note in checked.diagnostics]
    assert ("visible", ["SK014"]) == (listed.state, [note.code for note in listed.diagnostics])


@pytest.mark.parametrize("make", [fifo, socket, folder], ids=lambda make: make.__name__)
@pytest.mark.parametrize(
    "where",
    [
        "agents/openai.yaml",
        ".claude-plugin/plugin.json",
        "plugin.json",
        "DESCRIPTION.md",
        "flat.md",
        "code.py",
    ],
)
def test_other_files_that_are_no_files_hang_nothing(
    make: Callable[[Path], None], where: str, tmp_path: Path, home: Home, skill: Writer
) -> None:
    fine = skill("root/group/fine")
    for base in (tmp_path / "root", tmp_path / "root" / "group", fine):
        target = base / where
        target.parent.mkdir(exist_ok=True)
        make(target)

    answer = run(home.env, "list", "--all", "--json", "--root", str(tmp_path / "root"))

    assert ["fine"] == [row["name"] for row in answer.json["skills"]]


def test_an_import_of_the_library_does_not_read_the_disk(tmp_path: Path, home: Home) -> None:
    answer = python(
        home.env, "-c", "import metier; metier.open(roots=['/dev']); print('quiet')", cwd=tmp_path
    )

    assert (0, "quiet\n", "") == answer


def test_a_root_that_is_a_pipe_or_device_is_refused(tmp_path: Path, home: Home) -> None:
    os.mkfifo(tmp_path / "pipe")

    with metier.open(roots=[str(tmp_path / "pipe"), "/dev/zero"], env=home.env) as library:
        problems = library.problems()

    assert ["WK002", "WK002"] == [problem.code for problem in problems]


def test_check_of_a_pipe_or_device_is_an_error_and_not_a_wait(tmp_path: Path, home: Home) -> None:
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(MetierError):
        metier.open(env=home.env, cwd=tmp_path).check(["pipe"])
