"""`metier gc`: only on request, and only what nothing needs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from doors.command import Answer, error_of, run
from doors.upstream import text_of

if TYPE_CHECKING:
    from doors.upstream import Project, Upstream


def test_what_is_installed_or_a_revision_is_not_freed(installed: Project) -> None:
    answer = installed("gc")

    assert (0, "there is nothing to free\n", "") == answer
    shutil.rmtree(installed.file("pdf").parent)
    assert 0 == installed("sync", "--frozen").code


def test_what_nothing_needs_is_freed_and_counted(installed: Project, upstream: Upstream) -> None:
    upstream.commit({"skills/pdf/SKILL.md": text_of("pdf", "New.\n")})
    installed("update", "--yes")

    before = installed("gc", "--revisions", "1", "--dry-run")
    again = installed("gc", "--revisions", "1", "--dry-run", "--json")
    freed = installed("gc", "--revisions", "1")
    after = installed("gc", "--revisions", "1")

    assert before.out.endswith(" could be freed\n")
    assert ["trees", "blobs", "bytes", "environments", "gone"] == list(again.json)
    assert again.json["bytes"] > 0
    assert (0, f"freed {before.out.removesuffix(' could be freed' + chr(10))}\n") == (
        freed.code,
        freed.out,
    )
    assert "there is nothing to free\n" == after.out


def test_what_a_deleted_project_kept_goes_after_a_grace_and_a_yes(installed: Project) -> None:
    folder = installed.file("pdf").parents[3]
    state = next(
        path
        for path in (Path(installed.home.env["METIER_HOME"]) / "supply").glob("*.json")
        if str(folder) in path.read_text()
    )
    trees = Path(installed.home.env["METIER_HOME"]) / "store/trees"
    other = folder.parent / "elsewhere"
    other.mkdir()
    moved = folder.rename(folder.parent / "moved")

    def gc(*words: str) -> Answer:
        return run(installed.home.env, "gc", *words, cwd=other)

    fresh = gc("--gone", "--yes", "--json")
    os.utime(state, (1_700_000_000, 1_700_000_000))
    moved.rename(folder)
    back = gc("--gone", "--yes", "--json")
    folder.rename(moved)
    told, unasked, dry = gc(), gc("--gone"), gc("--gone", "--dry-run")
    before = len(list(trees.rglob("*.json")))
    freed = gc("--gone", "--yes")

    assert ([], [], 2) == (fresh.json["gone"], back.json["gone"], unasked.code)
    for answer in (told, dry, freed):
        assert (0, True) == (answer.code, f"  {folder}\n" in answer.out)
    assert ("next: metier gc --gone" in told.out, " could be freed" in dry.out) == (True, True)
    assert (True, 0, False) == (before > 0, len(list(trees.rglob("*.json"))), state.exists())


def test_a_disk_that_is_not_mounted_loses_nothing(installed: Project) -> None:
    folder = installed.file("pdf").parents[3]
    for path in (Path(installed.home.env["METIER_HOME"]) / "supply").glob("*.json"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    away = Path(f"{folder.parent}-away")
    folder.parent.rename(away)
    for mount in (None, folder.parent):  # no folder at all, then an empty one
        if mount is not None:
            mount.mkdir()
        env = {
            name: value.replace(str(folder.parent), str(away))
            for name, value in installed.home.env.items()
        }
        answer = run(env, "gc", "--gone", "--yes", "--json", cwd=away)
        assert (0, [], 0) == (answer.code, answer.json["gone"], answer.json["trees"])


@pytest.mark.parametrize("number", ["0", "-1", "x", "1.5", "9" * 40, "²"])
def test_a_number_of_revisions_is_a_whole_one(number: str, project: Project) -> None:
    answer = project("gc", f"--revisions={number}")

    assert (2, True) == (answer.code, "--revisions cannot be" in error_of(answer)[0])
