"""Of all that changes on a disk, only what a library depends on is passed on, by the names that the library knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from metier.discover.skill_files import digest, pieces_of
from metier.discover.watch_filter import PathFilter

if TYPE_CHECKING:
    from pathlib import Path

SIEVE = PathFilter(("/r/skills", "/data/store"), ("/c/metier.toml", "/data/trust.json"), ("/data",))


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
        ("/r/skills/pdf/.git/index", True),
        ("", False),
        ("/", False),
    ],
)
def test_only_what_lies_below_a_root_or_was_named_matters(path: str, matters: bool) -> None:
    found = SIEVE.passed([path])

    assert ({path} if matters else set()) == found


@pytest.mark.parametrize(
    "name",
    [
        "data.tmp",
        "notes~",
        ".SKILL.md.swp",
        "__pycache__/run.cpython-311.pyc",
        "node_modules/x/index.js",
        ".git/HEAD",
        ".DS_Store",
        "4913",
    ],
)
def test_whatever_is_part_of_a_skill_s_digest_matters(name: str, tmp_path: Path) -> None:
    (tmp_path / "pdf" / name).parent.mkdir(parents=True)
    (tmp_path / "pdf" / "SKILL.md").write_text("x")
    without = digest(*pieces_of(f"{tmp_path}/pdf"))
    (tmp_path / "pdf" / name).write_text("x")

    found = PathFilter((str(tmp_path),), (), ()).passed([f"{tmp_path}/pdf/{name}"])

    assert without != digest(*pieces_of(f"{tmp_path}/pdf"))
    assert {f"{tmp_path}/pdf/{name}"} == found


def test_a_change_told_by_its_canonical_name_is_passed_on_by_the_root_s_own(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")

    found = PathFilter((str(tmp_path / "link"),), (), ()).passed(
        [str(tmp_path.resolve() / "real" / "pdf" / "SKILL.md")]
    )

    assert {f"{tmp_path}/link/pdf/SKILL.md"} == found


LINKED = PathFilter(
    ("/r",),
    (),
    ("/data",),
    {
        "/r/one": "/out/pdf",
        "/r/two": "/out/pdf",
        "/r/in": "/r/own",
        "/r/team": "/srv/team",
        "/r/kept": "/data/kept/x",
    },
)


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("/out/pdf/SKILL.md", {"/r/one/SKILL.md", "/r/two/SKILL.md"}),
        ("/r/one/SKILL.md", {"/r/one/SKILL.md", "/r/two/SKILL.md"}),
        ("/out/pdf", {"/r/one", "/r/two"}),
        ("/r/own/x.md", {"/r/own/x.md", "/r/in/x.md"}),
        ("/r/in/x.md", {"/r/own/x.md", "/r/in/x.md"}),
        ("/srv/team/pdf/SKILL.md", {"/r/team/pdf/SKILL.md"}),
        ("/data/kept/x/SKILL.md", {"/r/kept/SKILL.md"}),
        ("/data/kept", set()),
        ("/out", set()),
        ("/out/pdfs/SKILL.md", set()),
    ],
)
def test_what_lies_behind_links_is_passed_on_by_every_name_the_library_has_for_it(
    path: str, names: set[str]
) -> None:
    assert names == LINKED.passed([path])


def test_links_that_lead_to_each_other_end_somewhere() -> None:
    found = PathFilter(
        ("/r",), (), (), {"/r/a": "/r/b", "/r/b": "/r/a", "/r/c": "/r/c", "/r/d": "/r"}
    ).passed(["/r/a/x", "/r/c/x", "/r/d/d/x"])

    assert {"/r/a/x", "/r/b/x", "/r/c/x", "/r/d/d/x"} <= found


def test_a_name_of_a_megabyte_is_sifted_like_any_other() -> None:
    long = "/r/skills/" + "#" * 1_000_000

    assert {long} == SIEVE.passed([long])
