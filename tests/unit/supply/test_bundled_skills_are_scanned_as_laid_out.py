"""What comes with a host is what was scanned, too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fakes.switching import SwitchingHands

import metier

if TYPE_CHECKING:
    from conftest import Home

EVIL = "---\nname: pdf\ndescription: Does it.\n---\nWhat nobody has scanned.\n"


def test_nothing_unscanned_comes_with_a_host(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "shipped/pdf"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(EVIL)

    with metier.open(env=home.env, cwd=home.path) as library:
        library.context.disk_calls = hands = SwitchingHands()

        def put_back(what: str, _count: int, _total: int) -> None:
            if what == "skills":  # the scan is over
                for path in filter(lambda one: Path(one).exists(), hands.switched):
                    Path(path).write_text(EVIL)

        library.context.progress = put_back
        found = library.bundled(str(tmp_path / "shipped"))

    assert ["failed"] == [one.state for one in found]
