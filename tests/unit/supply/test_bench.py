"""`bench/supply_child.py` times functions by their names: they have to be there."""

from __future__ import annotations

import runpy
from pathlib import Path

BENCH = Path(__file__).resolve().parents[3] / "bench"


def test_every_stage_that_is_timed_is_there() -> None:
    stages = runpy.run_path(str(BENCH / "supply_child.py"))["STAGES"]

    assert [] == [(stage, name) for stage, owner, name in stages if not hasattr(owner, name)]
