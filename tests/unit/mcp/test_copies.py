"""A skill's files at one moment: read in one pass, held while there is room."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import metier
from metier.mcp.copies import SkillCopies, SkillCopy, copy_skill
from metier.model import Digest

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Home, Writer


def test_the_digest_is_that_of_the_library(home: Home, tmp_path: Path, skill: Writer) -> None:
    folder = skill("skills/pdf")
    (folder / "sub").mkdir()
    (folder / "sub/run.sh").write_text("echo\n")
    (folder / "sub/run.sh").chmod(0o755)
    (folder / "link.md").symlink_to("SKILL.md")
    (folder / "out.md").symlink_to(tmp_path / "secret")
    (tmp_path / "secret").write_text("not for anybody")
    library = metier.open(env=home.env, cwd=tmp_path, roots=[str(tmp_path / "skills")])
    card = library.resolve("pdf")

    copy = copy_skill(card)

    assert library.digest(card) == copy.digest
    assert ["SKILL.md", "link.md", "sub/run.sh"] == [one.path for one in copy.files]
    assert copy.data["SKILL.md"] == copy.data["link.md"]


def test_links_that_lead_around_or_out_mean_nothing(
    home: Home, tmp_path: Path, skill: Writer
) -> None:
    folder = skill("skills/pdf")
    (folder / "sub").mkdir()
    (folder / "sub/a.md").write_text("a")
    for name, aim in {
        "loop": ".",
        "sub/up": "..",
        "ring": "knot",
        "knot": "ring",
        "out": "../pdf",
        "gone": "none",
        "real": "sub",
    }.items():
        (folder / name).symlink_to(aim)
    library = metier.open(env=home.env, cwd=tmp_path, roots=[str(tmp_path / "skills")])

    copy = copy_skill(library.resolve("pdf"))

    assert ["SKILL.md", "real/a.md", "sub/a.md"] == [one.path for one in copy.files]
    assert ("real", "sub") == copy.folders


def test_a_link_to_a_folder_with_links_in_it_is_followed_all_the_way(
    home: Home, tmp_path: Path, skill: Writer
) -> None:
    folder = skill("skills/pdf")
    for name in ("e", "d"):
        (folder / name).mkdir()
    (folder / "e/x.md").write_text("x")
    for name, aim in {"d/l": "../e", "a": "d", "e/back": "../d"}.items():
        (folder / name).symlink_to(aim)
    library = metier.open(env=home.env, cwd=tmp_path, roots=[str(tmp_path / "skills")])

    copy = copy_skill(library.resolve("pdf"))

    assert ["SKILL.md", "a/l/x.md", "d/l/x.md", "e/back/l/x.md", "e/x.md"] == [
        one.path for one in copy.files
    ]


def test_folders_that_links_multiply_are_too_many_in_the_end(
    home: Home, tmp_path: Path, skill: Writer
) -> None:
    folder = skill("skills/pdf")
    for number in range(300):
        (folder / f"d/{number}").mkdir(parents=True)
    for number in range(20):
        (folder / f"l{number}").symlink_to("d")
    library = metier.open(env=home.env, cwd=tmp_path, roots=[str(tmp_path / "skills")])

    copy = copy_skill(library.resolve("pdf"))

    assert ("it has more than 2,048 folders with what its links mean", ()) == (
        copy.fault,
        copy.folders,
    )


def test_what_is_no_file_keeps_a_skill_from_being_served(
    home: Home, tmp_path: Path, skill: Writer
) -> None:
    os.mkfifo(skill("skills/pdf") / "pipe")
    library = metier.open(env=home.env, cwd=tmp_path, roots=[str(tmp_path / "skills")])

    copy = copy_skill(library.resolve("pdf"))

    assert ("it cannot be read whole", None) == (copy.fault, copy.digest)


def test_the_least_used_copy_goes_first() -> None:
    held = SkillCopies(room=25)
    for name in ("a", "b"):
        held.keep(SkillCopy(Digest(name), (), {"x": b"0123456789"}))
    held.get("a")

    held.keep(SkillCopy(Digest("c"), (), {"x": b"0123456789"}))
    held.keep(SkillCopy(Digest("large"), (), {"x": b"0" * 26}))

    assert [True, False, True, False] == [
        held.get(name) is not None for name in ("a", "b", "c", "large")
    ]
