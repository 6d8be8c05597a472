"""An index that lets go of the pages it has read answers as before, and what nobody has open is not kept for it."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

from metier.find.index.engine import QUESTIONS_PER_REST
from metier.find.io.index_folder import IndexFolder, folder_engine
from metier.find.model import IndexQuery, SkillText

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = [
    SkillText(f"/s/{name}", b"", name, f"About {name}.", (), (), f"# {name}\n\nAll of {name}.\n")
    for name in ("apple", "pear", "plum")
]


class Restless(IndexFolder):
    """Counts how often it rests."""

    rests = 0

    def rest(self) -> None:
        """Count, and rest."""
        self.rests += 1
        super().rest()


def test_after_some_queries_the_pages_are_given_back_and_the_next_answer_is_alike(
    tmp_path: Path,
) -> None:
    engine = folder_engine(str(tmp_path / "index"), None)
    engine.place = place = Restless(str(tmp_path / "index"), None)
    engine.build(TEXTS)

    first, *others = [engine.query(IndexQuery("pear")) for _time in range(2 * QUESTIONS_PER_REST)]

    assert ["/s/pear"] == [one.path for one in first]
    assert all(first == one for one in others)
    assert 2 == place.rests


def test_a_file_that_was_deleted_can_be_rested_and_read_on(tmp_path: Path) -> None:
    place = IndexFolder(str(tmp_path / "index"), None)
    name = place.keep(b"x" * 100_000)
    held = place.load(name)
    place.drop([name])

    place.rest()

    assert held is not None
    assert b"x" * 100_000 == bytes(held)


def test_what_nobody_has_open_is_forgotten(tmp_path: Path) -> None:
    place = IndexFolder(str(tmp_path / "index"), None)
    names = [place.keep(b"x") for _time in range(3)]

    for name in names:
        place.load(name)
        gc.collect()
    held = place.load(names[0])
    place.rest()

    assert held is not None
    assert 1 == len(place._maps)  # noqa: SLF001 - that it does not grow cannot be seen from outside
