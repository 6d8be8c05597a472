"""A root whose links must stay inside a folder is itself held to that: a link in its place leads nowhere else."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from fakes.disk import FakeDisk

import metier
from metier.catalogue import snapshot
from metier.discover.model import KnownRoot, Survey
from metier.discover.walk import survey
from metier.model import Limits, Root

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Home, Writer

SKILL = b"---\nname: pdf\ndescription: Does one thing.\n---\n"


@pytest.mark.parametrize(
    ("aim", "found", "problems"),
    [
        ("/work/shared", ["/work/skills/pdf"], []),
        ("/elsewhere", [], ["WK003"]),
        ("/work-2", [], ["WK003"]),
    ],
)
def test_a_root_that_is_a_link_out_of_its_folder_is_not_searched(
    aim: str, found: list[str], problems: list[str]
) -> None:
    disk = FakeDisk(
        {
            "/work/skills": aim,
            "/work/x": b"",
            **{
                f"{place}/pdf/SKILL.md": SKILL
                for place in ("/work/shared", "/elsewhere", "/work-2")
            },
        }
    )

    seen = survey(
        Root("/work/skills", "project", "", "test", "contained", "/work"),
        Limits(8, 1_000, 10_000),
        disk,
    )

    assert (found, problems) == (
        [one.path for one in seen.entries],
        [one.code for one in seen.problems],
    )


def seen_later(home: Home, project: Path) -> tuple[list[str], list[str]]:
    """List a project's skills as if all that lies there were old, so that what is learnt is kept."""
    with metier.open(cwd=str(project), env=home.env) as library:
        clock = library.context.ports.clock_ns
        library.context.ports = library.context.ports._replace(
            clock_ns=lambda: clock() + 3_600 * 10**9
        )
        cards = [card.name for card in library.skills(all=True)]
        return cards, [problem.code for problem in library.problems()]


def test_a_skills_folder_that_leads_out_of_its_project_is_told_each_time_until_it_leads_elsewhere(
    home: Home, skill: Writer, tmp_path: Path
) -> None:
    skill("out/far")
    skill("repo/store/near")
    (tmp_path / "repo/.git").mkdir()
    (tmp_path / "repo/.agents").mkdir()
    link = tmp_path / "repo/.agents/skills"
    os.symlink("../../out", link)

    first, again = (seen_later(home, tmp_path / "repo") for _time in range(2))
    link.unlink()
    os.symlink("../store", link)
    turned = seen_later(home, tmp_path / "repo")

    assert (([], ["WK003"]), ([], ["WK003"]), (["near"], [])) == (first, again, turned)


def test_a_watch_list_without_a_path_is_none(tmp_path: Path) -> None:
    nothing = Survey([], [], [], {}, KnownRoot({}, {}, {}), 0)

    watch, _rest = snapshot.encode(nothing, str(tmp_path), bytes(16), 0)

    assert snapshot.watch_of(watch) is None
