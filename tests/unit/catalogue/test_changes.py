"""What counts as a change of a skill: its card, its files, whatever they are, and never merely their times."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from metier.catalogue import changes
from metier.catalogue.changes import tree_of

if TYPE_CHECKING:
    from pathlib import Path

LATER = 3_600 * 1_000_000_000
"""An hour on, every stat has settled."""


def written(path: Path, text: str = "x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_a_tree_that_has_settled_is_known_by_its_stats_and_not_read(tmp_path: Path) -> None:
    written(tmp_path / "SKILL.md")

    fresh, settled = (
        tree_of(str(tmp_path), time.time_ns()),
        tree_of(str(tmp_path), time.time_ns() + LATER),
    )

    assert (True, True) == (fresh.fresh, fresh.content.startswith("sha256:"))
    assert (False, "") == (settled.fresh, settled.content)
    assert fresh.stats == settled.stats


def test_a_change_that_hides_behind_the_same_stats_is_found_by_content(tmp_path: Path) -> None:
    path = written(tmp_path / "SKILL.md", "one")
    times = os.stat(path)
    before = tree_of(str(tmp_path), times.st_ctime_ns)

    path.write_text("two")
    after = tree_of(str(tmp_path), times.st_ctime_ns + LATER, before)

    assert changes._differ(before._replace(stats=after.stats), after)  # noqa: SLF001


def test_an_editor_s_file_that_came_and_went_leaves_the_tree_as_it_was(tmp_path: Path) -> None:
    written(tmp_path / "SKILL.md")
    before = tree_of(str(tmp_path), time.time_ns() + LATER)
    with_it = tree_of(str(written(tmp_path / "notes~").parent), time.time_ns())

    (tmp_path / "notes~").unlink()
    after = tree_of(str(tmp_path), time.time_ns(), before)

    assert (True, False) == (changes._differ(before, with_it), changes._differ(before, after))  # noqa: SLF001


def test_below_a_folder_that_was_touched_itself_every_known_tree_is_compared(
    tmp_path: Path,
) -> None:
    skills = [written(tmp_path / "team" / name / "SKILL.md").parent for name in ("one", "two")]
    stamps = {str(path): ("card", b"key") for path in skills}
    known = {str(path): tree_of(str(path), time.time_ns()) for path in skills}
    written(skills[0] / "data", "new")

    change = changes.between_trees(
        stamps, stamps, known, {f"{tmp_path}/team"}, time.time_ns(), deep=False
    )

    assert (str(skills[0]),) == change.changed


def test_a_tree_too_large_to_hash_is_known_by_its_stats_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "MAX_HASHED_BYTES", 2)
    written(tmp_path / "big", "three")

    tree = tree_of(str(tmp_path), time.time_ns())

    assert ("", True) == (tree.content, tree.fresh)


def test_a_skill_that_is_gone_or_no_folder_has_a_tree_all_the_same(tmp_path: Path) -> None:
    written(tmp_path / "flat.md")
    written(tmp_path / "other.md")

    gone, flat = (
        tree_of(str(tmp_path / "gone"), time.time_ns()),
        tree_of(str(tmp_path / "flat.md"), time.time_ns()),
    )
    written(tmp_path / "other.md", "changed")

    assert gone != flat
    assert flat == tree_of(str(tmp_path / "flat.md"), time.time_ns())
