"""What is served of a skill as files is what was decided about, and a decision holds under the terms that it was made under."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from fakes.cage import KeptSandbox
from fakes.served import Place

from metier.disclose.offer import OfferRefusal
from metier.mcp import catalogue, copies
from metier.mcp.catalogue import UNREADABLE
from metier.mcp.server import make_server
from metier.model import Digest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conftest import Home, Writer

    from metier.mcp.catalogue import ServedCatalogue
    from metier.mcp.copies import SkillCopy
    from metier.model import Card

OTHER = Digest("sha256:" + "cd" * 32)


@pytest.fixture
def place(home: Home, tmp_path: Path, skill: Writer) -> Place:
    """Give a place with one skill of two files."""
    made = Place(home, tmp_path, skill)
    made.skill("skills/pdf", f_txt="one\n")
    return made


@pytest.fixture
def stock(place: Place) -> Iterator[ServedCatalogue]:
    """Serve the place."""
    with ExitStack() as opened:
        library = opened.enter_context(place.open())
        library.context.sandbox = KeptSandbox()
        yield make_server(library).served


def card_of(stock: ServedCatalogue) -> Card:
    (card,) = stock.now().visible.values()
    return card


def test_files_that_are_not_those_that_were_decided_about_are_not_offered(
    stock: ServedCatalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = card_of(stock)
    copied = copies.copy_skill

    def other(card: Card) -> SkillCopy:
        return copied(card)._replace(digest=OTHER)

    monkeypatch.setattr(catalogue, "copy_skill", other)

    found = stock.offer(card.path)

    assert isinstance(found, OfferRefusal)
    assert (UNREADABLE, "'pdf' changed while it was read") == (found.code, found.message)


@pytest.mark.parametrize(
    ("now", "expected"), [("one\n", b"one\n"), ("two\n", None), ("longer\n", None)]
)
def test_a_file_that_is_not_held_any_more_is_read_again_only_as_it_was(
    place: Place, stock: ServedCatalogue, now: str, expected: bytes | None
) -> None:
    copy = copies.copy_skill(card_of(stock))
    (place.folder / "skills/pdf/f.txt").write_text(now)

    assert expected == stock.bytes_of(copy, "f.txt")


def test_what_was_let_in_under_other_terms_is_not_taken_for_let_in_now(
    stock: ServedCatalogue,
) -> None:
    card, terms = card_of(stock), stock.now().terms

    found = [
        stock.admit(card, digest, "community", said)
        for digest, said in ((OTHER, object()), (None, terms), (OTHER, terms))
    ]

    assert [None, None, OTHER] == [one.digest if one is not None else None for one in found]
