"""Eight processes add, update, edit, roll back, remove and die on one project and one METIER_HOME: it stays whole, and edits stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fakes.crowd import Crowd, crowded

if TYPE_CHECKING:
    from pathlib import Path

PROCESSES, OPERATIONS = 8, 12
EXPECTED = {"changed", "busy", "not-found", "store", "not-in-store", "refused"}
"""What somebody is told whom another was faster than."""


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_eight_processes_at_once_leave_a_whole_project_and_every_edit(
    tmp_path: Path, seed: int
) -> None:
    crowd = Crowd(tmp_path / "crowd")
    # So that who edits first finds something, however slow the others are.
    with crowd.library() as library:
        library.add(f"git+file://{crowd.source}", all=True)

    said = crowded(crowd, PROCESSES, seed, OPERATIONS)

    assert [] == crowd.wrong(said)
    assert set() == {code for one in said for code in one.errors} - EXPECTED
    assert PROCESSES * OPERATIONS / 4 < sum(count for one in said for count in one.done.values())
    assert any(one.edits for one in said)
