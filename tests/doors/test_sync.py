"""`metier sync`: what the lock has and the disk lacks, and what a continuous run is told."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from doors.command import error_of
from doors.upstream import text_of

if TYPE_CHECKING:
    from doors.upstream import Project, Upstream


def test_nothing_to_do_is_well(installed: Project) -> None:
    text, document = installed("sync"), installed("sync", "--frozen", "--json")

    assert (0, "the disk matches the lock\n", "") == text
    assert (0, {"ok": True, "changed": [], "drift": [], "notes": []}) == (
        document.code,
        document.json,
    )


@pytest.mark.parametrize("more", [[], ["--frozen"]])
def test_a_missing_skill_is_restored_without_its_source(
    more: list[str], installed: Project, upstream: Upstream
) -> None:
    shutil.rmtree(installed.file("pdf").parent)
    shutil.rmtree(upstream.folder)

    answer = installed("sync", *more)

    assert (0, "") == (answer.code, answer.err)
    assert (
        "the disk matches the lock: 1 skill restored\nrestored pdf: .agents/skills/pdf\n"
        == answer.out
    )
    assert text_of("pdf") == installed.file("pdf").read_text()


def test_frozen_an_edit_is_drift_and_is_left_alone(installed: Project) -> None:
    lock = (installed.folder / "metier.lock").read_bytes()
    installed.edit("pdf", "Line 3 ", "My line 3 ")

    text, document = installed("sync", "--frozen"), installed("sync", "--frozen", "--json")

    assert (1, 1) == (text.code, document.code)
    assert "\ndrift " in text.out
    assert text.out.startswith("the disk does not match the lock: 1 difference\n")
    assert (False, [], 1) == (
        document.json["ok"],
        document.json["changed"],
        len(document.json["drift"]),
    )
    assert "My line 3 " in installed.file("pdf").read_text()
    assert lock == (installed.folder / "metier.lock").read_bytes()


def test_a_project_without_a_lock_fails_a_frozen_sync(project: Project) -> None:
    answer = project("sync", "--frozen")

    assert (1, True) == (answer.code, "metier.lock" in error_of(answer)[0])


def test_a_project_and_the_user_contradict_each_other(project: Project) -> None:
    answer = project("sync", "--project", "--user")

    assert (2, True) == (answer.code, "contradict" in error_of(answer)[0])
