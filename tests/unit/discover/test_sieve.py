"""Of all that changes on a disk, only what a library depends on is passed on, by the names that the library knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from metier.discover.sieve import Sieve, is_passing

if TYPE_CHECKING:
    from pathlib import Path

SIEVE = Sieve(("/r/skills", "/data/store"), ("/c/metier.toml", "/data/trust.json"), ("/data",))


@pytest.mark.parametrize(
    ("path", "matters"),
    [
        ("/r/skills", True),
        ("/r/skills/pdf/SKILL.md", True),
        ("/r/skills/pdf/scripts/deep/er/run.py", True),
        ("/r/skills-not/pdf", False),
        ("/r/other", False),
        ("/elsewhere", False),
        ("/c/metier.toml", True),
        ("/c/other.toml", False),
        ("/r", True),
        ("/c", True),
        ("/data/trust.json", True),
        ("/data/index/a.view", False),
        ("/data/state.db", False),
        ("/data/store/pdf/SKILL.md", True),
        ("/r/skills/pdf/.git/index", False),
        ("", False),
        ("/", False),
    ],
)
def test_only_what_lies_below_a_root_or_was_named_matters(path: str, matters: bool) -> None:
    found = SIEVE.passed([path])

    assert ({path} if matters else set()) == found


@pytest.mark.parametrize(
    ("path", "passing"),
    [
        ("pdf/.SKILL.md.swp", True),
        ("pdf/.SKILL.md.swx", True),
        ("pdf/SKILL.md~", True),
        ("pdf/.#SKILL.md", True),
        ("pdf/#SKILL.md#", True),
        ("pdf/4913", True),
        ("pdf/SKILL.md.123.tmp", True),
        ("pdf/SKILL.md___jb_tmp___", True),
        ("pdf/.goutputstream-AB12", True),
        ("pdf/.DS_Store", True),
        ("pdf/__pycache__/run.cpython-311.pyc", True),
        ("node_modules/x/SKILL.md", True),
        (".git", True),
        ("pdf/SKILL.md", False),
        ("pdf/.hidden", False),
        ("pdf/swp", False),
        ("pdf/49131", False),
        ("pdf/gitlog.md", False),
        ("~/x", False),
    ],
)
def test_what_editors_and_tools_leave_for_a_moment_does_not_count(path: str, passing: bool) -> None:
    assert passing == is_passing(path)


def test_a_change_told_by_its_canonical_name_is_passed_on_by_the_root_s_own(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")

    found = Sieve((str(tmp_path / "link"),), (), ()).passed([str(tmp_path.resolve() / "real" / "pdf" / "SKILL.md")])

    assert {f"{tmp_path}/link/pdf/SKILL.md"} == found


def test_a_name_of_a_megabyte_is_sifted_like_any_other() -> None:
    long = "/r/skills/" + "#" * 1_000_000

    assert set() == SIEVE.passed([long])
    assert {"/r/skills/" + "a" * 1_000_000} == SIEVE.passed(["/r/skills/" + "a" * 1_000_000])
