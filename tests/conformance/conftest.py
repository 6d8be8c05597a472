"""The one fixture that every conformance test needs: a made-up machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from conformance.folders import Place

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Give a machine with a home and a project, both empty."""
    return Place(tmp_path)
