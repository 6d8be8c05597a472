"""What comes into the store from another file system is what was hashed, or it does not come in."""

from __future__ import annotations

import errno
import hashlib
from typing import TYPE_CHECKING

import pytest
from fakes.breaking import QuickHands

from metier.errors import IntegrityError
from metier.standard.digest import TreeFile
from metier.store.io.tree_store import Store

if TYPE_CHECKING:
    from pathlib import Path


class FarHands(QuickHands):
    """Hands for which the desk lies on another file system than the store."""

    def move(self, source: str, target: str) -> None:
        """Refuse to rename from there."""
        if "/desk/" in source:
            raise OSError(errno.EXDEV, "Invalid cross-device link", source)
        super().move(source, target)


def taken(folder: Path, written: bytes, hashed: bytes) -> tuple[Store, str]:
    desk = folder / "desk"
    desk.mkdir()
    (desk / "SKILL.md").write_bytes(written)
    store = Store(str(folder / "store"), None, FarHands())
    return store, store.take(
        str(desk), [TreeFile("SKILL.md", len(hashed), hashlib.sha256(hashed).digest(), False)]
    )


def test_a_file_is_copied_where_it_cannot_be_renamed(tmp_path: Path) -> None:
    store, digest = taken(tmp_path, b"one\n", b"one\n")

    assert (b"one\n", []) == (store.read(digest, "SKILL.md"), list((tmp_path / "desk").iterdir()))


def test_bytes_that_are_not_those_that_were_hashed_are_refused_on_the_way(tmp_path: Path) -> None:
    with pytest.raises(IntegrityError, match="is not what was written"):
        taken(tmp_path, b"two\n", b"one\n")

    assert [] == list(Store(str(tmp_path / "store"), None, FarHands()).digests())
