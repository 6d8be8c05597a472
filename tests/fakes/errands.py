"""Errands that another process can be sent on: it must find them by their names."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.library import Library


def number_of_process(_m: Library) -> int:
    """Say who finds this out."""
    return os.getpid()


def wait_for_ever(_m: Library) -> None:
    """Never end."""
    time.sleep(3_600)
