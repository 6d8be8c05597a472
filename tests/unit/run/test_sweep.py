"""What runs left behind goes when nobody has used it of late, and is counted first where somebody only looks."""

from __future__ import annotations

import os
from pathlib import Path

from fakes.scripted import library_of

from metier.run import environments, run_script
from metier.run.io import copies


def test_copies_that_nobody_used_of_late_go_and_those_in_use_stay(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    run_script.run(library.context, "pdf")
    folder = Path(str(library.context.data)) / copies.FOLDER
    (folder / "old").mkdir()
    (folder / "old" / "x").write_text("12345")
    os.utime(folder / "old", (1, 1))

    looked = environments.sweep(library.context, dry_run=True)
    swept = environments.sweep(library.context, dry_run=False)

    assert ((1, 5), (1, 5), (0, 0)) == (
        looked,
        swept,
        environments.sweep(library.context, dry_run=False),
    )
    assert 1 == len(os.listdir(folder))


def test_without_a_place_of_its_own_there_is_nothing_to_sweep(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    library.context.data = None

    assert (0, 0) == environments.sweep(library.context, dry_run=False)
