"""What tests of mirrored plugins begin with: a machine with a plugin in a folder, and one where it is enabled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fakes.plugs import Plugs

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def plugs(tmp_path: Path) -> Plugs:
    """Give a machine with a plugin that nobody has enabled."""
    return Plugs(tmp_path)


@pytest.fixture
def enabled(plugs: Plugs) -> Plugs:
    """Give a machine with a plugin that is enabled."""
    plugs.enable()
    return plugs
