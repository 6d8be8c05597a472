"""Folders and links laid as traps: loops, ways out, depths, floods, and folders nobody may read."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from doors.command import run

import metier

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Home, Writer

    from metier.library import Library

SETTLED = 0.15
"""Seconds after which the index trusts a stat: only then does a test show what the stat alone tells."""


@pytest.fixture
def abyss(tmp_path: Path) -> Iterator[Path]:
    """Give a root for folders so deep that Python's own way of removing them fails; remove them all the same."""
    yield tmp_path / "root"
    subprocess.run(["rm", "-rf", str(tmp_path / "root")], check=True)


def opened(home: Home, root: Path, config: str = "") -> Library:
    path = None
    if config:
        path = root.parent / "metier.toml"
        path.write_text(config)
    return metier.open(roots=[str(root)], env=home.env, config=path)


def paths(library: Library, root: Path) -> list[str]:
    return [str(Path(card.path).relative_to(root)) for card in library.skills(all=True)]


def to_itself(root: Path) -> None:
    (root / "loop").symlink_to("loop")


def to_its_folder(root: Path) -> None:
    (root / "loop").symlink_to(".")


def to_its_parent(root: Path) -> None:
    (root / "group").mkdir()
    (root / "group" / "up").symlink_to("..")


def two_that_name_each_other(root: Path) -> None:
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")


def two_folders_that_hold_each_other(root: Path) -> None:
    for here, there in (("x", "y"), ("y", "x")):
        (root / here).mkdir()
        (root / here / "on").symlink_to(f"../{there}")


def inside_a_skill(root: Path) -> None:
    (root / "fine" / "self").symlink_to("../fine")


def to_the_whole_disk(root: Path) -> None:
    (root / "disk").symlink_to(root.parent.parent)


LOOPS = (
    to_itself,
    to_its_folder,
    to_its_parent,
    two_that_name_each_other,
    two_folders_that_hold_each_other,
    inside_a_skill,
)


@pytest.mark.parametrize("lay", LOOPS, ids=lambda lay: lay.__name__)
def test_a_loop_of_links_ends_and_finds_each_skill_once(
    lay: object, tmp_path: Path, home: Home, skill: Writer
) -> None:  # CX-25
    skill("root/fine")
    assert callable(lay)
    lay(tmp_path / "root")

    library = opened(home, tmp_path / "root")

    assert ["fine"] == paths(library, tmp_path / "root")
    assert [] == library.context.catalogue.contents().truncated


def test_a_link_that_leads_nowhere_is_reported_and_noticed_when_it_leads_somewhere(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    skill("root/fine")
    (tmp_path / "root" / "later").symlink_to(tmp_path / "elsewhere" / "later")
    time.sleep(SETTLED)
    first = opened(home, tmp_path / "root")
    assert [(str(tmp_path / "root" / "later"), "WK004")] == [
        (problem.path, problem.code) for problem in first.problems()
    ]

    skill("elsewhere/later")

    assert ["fine", "later"] == paths(opened(home, tmp_path / "root"), tmp_path / "root")


def test_a_link_that_is_pointed_elsewhere_is_followed_there(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    for version in ("one", "two"):
        skill(f"store/{version}/pdf", description=f"Version {version}.")
    (tmp_path / "store" / "current").symlink_to("one")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "shelf").symlink_to(tmp_path / "store" / "current")
    time.sleep(SETTLED)
    assert ["Version one."] == [
        card.description for card in opened(home, tmp_path / "root").skills()
    ]

    (tmp_path / "store" / "next").symlink_to("two")
    (tmp_path / "store" / "next").replace(tmp_path / "store" / "current")

    assert ["Version two."] == [
        card.description for card in opened(home, tmp_path / "root").skills()
    ]


def test_a_link_to_a_file_that_becomes_a_folder_of_skills_is_noticed(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    target = tmp_path / "target"
    target.write_text("only a file\n")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "shelf").symlink_to(target)
    time.sleep(SETTLED)
    assert [] == paths(opened(home, tmp_path / "root"), tmp_path / "root")

    target.unlink()
    skill("target/pdf")

    assert ["shelf/pdf"] == paths(opened(home, tmp_path / "root"), tmp_path / "root")


def test_a_project_cannot_pull_in_folders_from_outside_it(
    tmp_path: Path, home: Home, skill: Writer
) -> None:  # MT-6
    skill("project/.agents/skills/fine")
    skill("outside/secret")
    skill("project/inside/shared")
    (tmp_path / "project" / ".git").mkdir()
    links = tmp_path / "project" / ".agents" / "skills"
    (links / "escape").symlink_to(tmp_path / "outside")
    (links / "climb").symlink_to("../../../outside")
    (links / "sibling").symlink_to(str(tmp_path / "project") + "-evil")
    skill("project-evil/worse")
    (links / "within").symlink_to("../../inside")

    library = metier.open(env=home.env, cwd=tmp_path / "project")

    names = {card.name for card in library.skills(all=True)}
    assert {"fine", "shared"} == names
    unfollowed = sorted(
        Path(problem.path).name for problem in library.problems() if problem.code == "WK003"
    )
    assert ["climb", "escape", "sibling"] == unfollowed


def test_a_skill_reached_twice_is_one_skill(
    tmp_path: Path, home: Home, skill: Writer
) -> None:  # CX-25
    skill("root/z-real")
    (tmp_path / "root" / "a-link").symlink_to("z-real")
    (tmp_path / "root" / "b-link").symlink_to("a-link")

    assert ["z-real"] == paths(opened(home, tmp_path / "root"), tmp_path / "root")


def test_a_thousand_folders_deep_is_said_to_be_too_deep(
    abyss: Path, home: Home, skill: Writer
) -> None:
    skill("root/fine")
    here = abyss
    for _ in range(1_000):
        here = here / "d"
        os.mkdir(here)
    (here / "SKILL.md").write_text("---\nname: d\ndescription: Deep.\n---\n")

    listed = run(home.env, "list", "--json", "--root", str(abyss))

    assert ["fine"] == [row["name"] for row in listed.json["skills"]]
    assert ["WK006"] == [row["code"] for row in listed.json["truncated"]]


def test_deeper_than_a_path_can_be_long_is_a_problem_and_no_crash(
    abyss: Path, home: Home, skill: Writer
) -> None:
    skill("root/fine")
    at = os.open(abyss, os.O_RDONLY)
    for _ in range(60):  # each name has 200 characters: far beyond PATH_MAX
        os.mkdir("d" * 200, dir_fd=at)
        below = os.open("d" * 200, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)

    library = opened(home, abyss, "[limits]\ndepth = 5000\n")

    assert ["fine"] == [card.name for card in library.skills()]
    assert [] == library.context.catalogue.contents().truncated
    assert ["WK001"] == [problem.code for problem in library.problems()]


@pytest.mark.parametrize(
    ("limit", "code"), [("folders = 5", "WK007"), ("entries = 5", "WK008"), ("depth = 1", "WK006")]
)
def test_a_limit_that_is_reached_is_always_said(
    limit: str, code: str, tmp_path: Path, home: Home, skill: Writer
) -> None:
    for number in range(10):
        skill(f"root/group/more/skill-{number}")
        (tmp_path / "root" / "group" / f"folder-{number}").mkdir()

    library = opened(home, tmp_path / "root", f"[limits]\n{limit}\n")
    answer = run(
        {**home.env, "METIER_CONFIG": str(tmp_path / "metier.toml")},
        "list",
        "--root",
        str(tmp_path / "root"),
    )

    assert [code] == [problem.code for problem in library.context.catalogue.contents().truncated]
    assert code in answer.out


@pytest.mark.parametrize("limit", ["folders = 40", "entries = 60"])
def test_a_limit_says_the_same_the_second_time(
    limit: str, tmp_path: Path, home: Home, skill: Writer
) -> None:
    for number in range(50):
        skill(f"root/skill-{number:02}")
    config = f"[limits]\n{limit}\n"
    first = opened(home, tmp_path / "root", config)
    seen = (first.skills(all=True), first.context.catalogue.contents().truncated)

    (tmp_path / "root" / "skill-00" / "SKILL.md").write_text(
        "---\nname: skill-00\ndescription: Changed.\n---\n"
    )
    warm = opened(home, tmp_path / "root", config)
    fresh = metier.open(
        roots=[str(tmp_path / "root")],
        env=home.env,
        config=tmp_path / "metier.toml",
        home=tmp_path / "other-home",
    )

    assert len(seen[0]) == len(warm.skills(all=True))
    assert fresh.skills(all=True) == warm.skills(all=True)
    assert (
        fresh.context.catalogue.contents().truncated == warm.context.catalogue.contents().truncated
    )


def test_a_flood_of_entries_beside_a_skill_is_survived(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    fine = skill("root/fine")
    for number in range(1_000):
        (fine / f"{number}.md").touch()
        (tmp_path / "root" / f"{number}.md").touch()

    assert ["fine"] == paths(opened(home, tmp_path / "root"), tmp_path / "root")


def test_an_unreadable_folder_is_reported_and_the_rest_is_listed(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    skill("root/fine")
    skill("root/group/hidden")
    (tmp_path / "root" / "group").chmod(0)

    answer = run(home.env, "list", "--json", "--root", str(tmp_path / "root"), powerless=True)
    (tmp_path / "root" / "group").chmod(0o755)

    assert ["fine"] == [row["name"] for row in answer.json["skills"]]
    assert [("WK001", str(tmp_path / "root" / "group"))] == [
        (row["code"], row["path"]) for row in answer.json["errors"]
    ]


def test_an_unreadable_folder_is_listed_once_it_can_be_read(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    skill("root/group/hidden")
    (tmp_path / "root" / "group").chmod(0)
    run(home.env, "list", "--json", "--root", str(tmp_path / "root"), powerless=True)

    (tmp_path / "root" / "group").chmod(0o755)
    answer = run(home.env, "list", "--json", "--root", str(tmp_path / "root"), powerless=True)

    assert (["hidden"], []) == (
        [row["name"] for row in answer.json["skills"]],
        answer.json["errors"],
    )


@pytest.mark.parametrize("file", ["SKILL.md", "agents/openai.yaml"])
def test_an_unreadable_file_is_a_diagnostic(
    file: str, tmp_path: Path, home: Home, skill: Writer
) -> None:
    odd = skill("root/odd")
    (odd / "agents").mkdir()
    (odd / "agents" / "openai.yaml").write_text("interface:\n  display_name: Odd\n")
    (odd / file).chmod(0)

    answer = run(
        home.env, "list", "--all", "--json", "--root", str(tmp_path / "root"), powerless=True
    )
    shown = run(home.env, "show", "odd", "--root", str(tmp_path / "root"), powerless=True)

    (row,) = answer.json["skills"]
    assert ("invalid" if file == "SKILL.md" else "hidden") == row["state"]
    assert row["diagnostics"]
    assert "Traceback" not in shown.err


def test_an_unreadable_support_file_spoils_the_digest_and_nothing_else(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    odd = skill("root/odd")
    (odd / "secret.txt").write_text("secret")
    (odd / "secret.txt").chmod(0)

    answer = run(
        home.env, "list", "--digests", "--json", "--root", str(tmp_path / "root"), powerless=True
    )

    assert [("odd", None)] == [(row["name"], row["digest"]) for row in answer.json["skills"]]


def test_an_unreadable_support_folder_spoils_the_digest_and_nothing_else(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    odd = skill("root/odd")
    (odd / "scripts").mkdir()
    (odd / "scripts" / "run.sh").write_text("true")
    (odd / "scripts").chmod(0)

    answer = run(
        home.env, "list", "--digests", "--json", "--root", str(tmp_path / "root"), powerless=True
    )
    (odd / "scripts").chmod(0o755)

    # A digest that leaves out what could not be read would vouch for bytes nobody has seen.
    assert [("odd", None)] == [(row["name"], row["digest"]) for row in answer.json["skills"]]


def test_a_tree_with_too_many_files_has_no_digest_rather_than_half_of_one(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    odd = skill("root/odd")
    for part, count in (("a", 1), ("z", 20_000)):
        (odd / part).mkdir()
        for number in range(count):
            os.symlink("nowhere", odd / part / str(number))
    library = opened(home, tmp_path / "root")
    (card,) = library.skills()
    before = library.digest(card)

    (odd / "a" / "0").unlink()
    (odd / "a" / "0").write_text("changed")

    # Approvals bind to the digest, so it covers everything or does not exist.
    assert not before or before != library.digest(card)
