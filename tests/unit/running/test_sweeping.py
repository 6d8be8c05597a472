"""What runs left behind goes when nobody has used it of late, and is counted first where somebody only looks."""

from __future__ import annotations

import os
from pathlib import Path

from fakes.scripted import library_of

from metier.copies import disk as copies
from metier.running import scripts, sweeping


def test_copies_that_nobody_used_of_late_go_and_those_in_use_stay(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    scripts.run(library, "pdf")
    folder = Path(str(library.data)) / copies.FOLDER
    (folder / "old").mkdir()
    (folder / "old" / "x").write_text("12345")
    os.utime(folder / "old", (1, 1))

    looked = sweeping.sweep(library, dry_run=True)
    swept = sweeping.sweep(library, dry_run=False)

    assert ((1, 5), (1, 5), (0, 0)) == (looked, swept, sweeping.sweep(library, dry_run=False))
    assert 1 == len(os.listdir(folder))


def test_without_a_place_of_its_own_there_is_nothing_to_sweep(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    library.data = None

    assert (0, 0) == sweeping.sweep(library, dry_run=False)
