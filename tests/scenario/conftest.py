"""What the scenarios share: a folder for worlds that are made and thrown away by the thousand."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

MEMORY = Path("/dev/shm")


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Path]:
    """Give a folder in memory, where that can be."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else tmp_path) as made:
        yield Path(made)
