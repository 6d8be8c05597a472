"""The desk takes nothing from beside what was picked, and sweeps nothing behind a link."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fakes.shop import FakeTree

from metier.errors import RefusedError
from metier.settings.model import SupplySettings
from metier.store.io.disk_calls import OsDiskCalls
from metier.store.io.folders import clear
from metier.supply.io.quarantine import Quarantine
from metier.supply.model import Item, Origin

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "path", ["ocr/SKILL.md", "pdf-2/SKILL.md", "pdf", "SKILL.md", "xpdf/SKILL.md"]
)
def test_an_entry_beside_the_skill_that_was_picked_is_not_laid_out(
    tmp_path: Path, path: str
) -> None:
    tree = FakeTree(Origin("folder", "/x"), {"pdf/SKILL.md": b"pdf", path: b"other"})
    items = [
        Item(name, len(data or b""), "file", f"key-{name}") for name, data in tree.files.items()
    ]

    with (
        Quarantine(str(tmp_path / "staging"), None, OsDiskCalls()) as desk,
        pytest.raises(RefusedError, match="does not lie below 'pdf'") as caught,
    ):
        desk.lay(tree, items, "pdf", SupplySettings())

    assert "unsafe-path" == caught.value.code


@pytest.mark.parametrize("inside", [False, True])
def test_what_a_link_leads_to_is_not_swept_with_it(tmp_path: Path, inside: bool) -> None:
    kept, desk = tmp_path / "kept", tmp_path / "desk"
    kept.mkdir()
    (kept / "precious.txt").write_text("mine\n")
    if inside:
        desk.mkdir()
    (desk / "link" if inside else desk).symlink_to(kept)

    clear(str(desk), OsDiskCalls())

    assert ("mine\n", False) == (
        (kept / "precious.txt").read_text(),
        desk.is_symlink() or desk.exists(),
    )
