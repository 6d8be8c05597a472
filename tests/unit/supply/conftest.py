"""The machine that skills are installed on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fakes.shop import Shop

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)
