"""The life of a skill: added, edited, changed upstream, merged, in conflict, settled, rolled back, restored and removed."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from doors.upstream import LINES, Project, Upstream, text_of

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Home

ORIGINAL = text_of("pdf")
UPSTREAM_18 = LINES.replace("Line 18 ", "Newer line 18 ")
UPSTREAM_3 = UPSTREAM_18.replace("Line 3 ", "Their line 3 ")
MINE = "My line 3 "


@pytest.fixture
def upstream(tmp_path: Path) -> Upstream:
    made = Upstream(tmp_path / "upstream")
    made.commit(
        {
            "skills/pdf/SKILL.md": ORIGINAL,
            "skills/pdf/scripts/fill.sh": "echo filled\n",
            "skills/ocr/SKILL.md": text_of("ocr"),
        }
    )
    return made


@pytest.fixture
def project(home: Home, tmp_path: Path) -> Project:
    return Project(home, tmp_path / "project")


def states(project: Project) -> dict[str, str]:
    return {one["name"]: one["state"] for one in project("outdated", "--json").json["skills"]}


def test_edits_survive_everything_that_happens_to_a_skill(
    project: Project, upstream: Upstream
) -> None:  # MT-14
    added = project("add", upstream.url, "--skill", "pdf", "--to", "claude-code", "--yes")
    fresh = states(project)
    project.edit("pdf", "Line 3 ", MINE)

    upstream.commit({"skills/pdf/SKILL.md": text_of("pdf", UPSTREAM_18)})
    stale = states(project)
    waits = project("update", "--check")
    merged = project("update", "--yes")
    after_merge = project.file("pdf").read_text()

    upstream.commit({"skills/pdf/SKILL.md": text_of("pdf", UPSTREAM_3)})
    held = project("update", "--yes")
    while_held = project.file("pdf").read_text()
    shown = project("merge", "pdf")
    settled = project("merge", "pdf", "--theirs")
    after_theirs = project.file("pdf").read_text()
    revisions = [one["what"] for one in project("history", "pdf", "--json").json["revisions"]]

    back = project("rollback", "pdf")
    after_back = project.file("pdf").read_text()
    seen_by_claude = (project.folder / ".claude" / "skills" / "pdf" / "SKILL.md").read_text()

    assert (0, 1, 0, 1) == (added.code, waits.code, merged.code, held.code)
    assert fresh != stale
    assert text_of("pdf", UPSTREAM_18.replace("Line 3 ", MINE)) == after_merge == while_held
    assert (1, True) == (shown.code, "SKILL.md" in shown.out)
    assert (0, text_of("pdf", UPSTREAM_3)) == (settled.code, after_theirs)
    assert "merge" in revisions
    assert (0, after_merge) == (back.code, after_back)
    assert after_back == seen_by_claude


def test_a_conflict_is_settled_by_hand(project: Project, upstream: Upstream) -> None:
    project("add", upstream.url, "--skill", "pdf", "--yes")
    project.edit("pdf", "Line 3 ", MINE)
    upstream.commit({"skills/pdf/SKILL.md": text_of("pdf", UPSTREAM_3)})
    project("update", "--yes")

    aborted = project("merge", "pdf", "--abort")
    kept = project.file("pdf").read_text()
    again = project("update", "--yes")
    ours = project("merge", "pdf", "--ours")

    assert (0, text_of("pdf", LINES.replace("Line 3 ", MINE))) == (aborted.code, kept)
    assert (1, 0) == (again.code, ours.code)
    assert text_of("pdf", UPSTREAM_18.replace("Line 3 ", MINE)) == project.file("pdf").read_text()
    assert (0, "nothing to do\n") == project("update", "--yes")[:2]


def test_a_colleague_gets_the_same_bytes_from_the_lock(
    project: Project, upstream: Upstream, tmp_path: Path, home: Home
) -> None:
    project("add", upstream.url, "--all", "--yes")
    upstream.commit({"skills/pdf/SKILL.md": text_of("pdf", UPSTREAM_3)})
    colleague = Project(
        home._replace(env={**home.env, "METIER_HOME": str(tmp_path / "theirs")}), tmp_path / "clone"
    )
    shutil.copy(project.folder / "metier.lock", colleague.folder / "metier.lock")

    synced = colleague("sync", "--frozen")

    assert (0, "") == (synced.code, synced.err)
    assert (ORIGINAL, text_of("ocr")) == (
        colleague.file("pdf").read_text(),
        colleague.file("ocr").read_text(),
    )
    assert (project.folder / "metier.lock").read_bytes() == (
        colleague.folder / "metier.lock"
    ).read_bytes()


def test_after_it_was_removed_nothing_of_it_is_left_and_it_can_come_back(
    project: Project, upstream: Upstream
) -> None:
    project("add", upstream.url, "--skill", "pdf", "--to", "claude-code", "--yes")

    removed = project("remove", "pdf", "--yes")
    gone = {name for name in project.left() if "pdf" in name}
    again = project("add", upstream.url, "--skill", "pdf", "--yes")

    assert (0, set(), 0) == (removed.code, gone, again.code)
    assert ORIGINAL == project.file("pdf").read_text()
