"""`metier gc`: only on request, and only what nothing needs."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from doors.command import error_of
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
    assert ["trees", "blobs", "bytes", "environments"] == list(again.json)
    assert again.json["bytes"] > 0
    assert (0, f"freed {before.out.removesuffix(' could be freed' + chr(10))}\n") == (freed.code, freed.out)
    assert "there is nothing to free\n" == after.out


@pytest.mark.parametrize("number", ["0", "-1", "x", "1.5", "9" * 40, "²"])
def test_a_number_of_revisions_is_a_whole_one(number: str, project: Project) -> None:
    answer = project("gc", f"--revisions={number}")

    assert (2, True) == (answer.code, "--revisions cannot be" in error_of(answer)[0])
